//! The conformance suite, on the kind as it is linked in.

#[test]
fn it_conforms() {
    plugin_api::testkit::assert_kind(&host_gpu_reservation::rules::GpuReservation);
}

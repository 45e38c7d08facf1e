using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "merchant", worker = .merchant),
    (name = "internet", network = (allow = ["public", "private", "local"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "merchant")],
);

const merchant :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "bundle/worker.js")],
  compatibilityDate = "2026-01-01",
  bindings = [
    (name = "LITERAL_KEY", fromEnvironment = "LITERAL_KEY"),
    (name = "PUBLIC_KEY", fromEnvironment = "PUBLIC_KEY"),
    (name = "SERVICE_URL", fromEnvironment = "SERVICE_URL"),
    (name = "SIGNING_KEY", fromEnvironment = "SIGNING_KEY"),
  ],
);

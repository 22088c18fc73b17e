"""TensorFlow Serving's REST interface, as far as the documents use it."""

import contextlib
import http.server
import json
import threading

import tensorflow as tf


def as_tensors(signature, inputs):
    """The values of a request in the types that a signature takes."""
    specs = signature.structured_input_signature[1]
    return {k: tf.constant(v, specs[k].dtype) for k, v in inputs.items()}


class Server(http.server.BaseHTTPRequestHandler):
    """What TensorFlow Serving's REST interface does with the model `loaded`."""

    loaded = None

    def do_GET(self):
        assert self.path.endswith("/metadata")
        signatures = {
            name: {
                "inputs": {
                    key: {
                        "dtype": {"float32": "DT_FLOAT", "int32": "DT_INT32"}.get(
                            spec.dtype.name, "DT_BOOL"
                        ),
                        "tensor_shape": {
                            "dim": [
                                {"size": str(-1 if n is None else n), "name": ""}
                                for n in spec.shape
                            ],
                            "unknown_rank": False,
                        },
                    }
                    for key, spec in signature.structured_input_signature[1].items()
                }
            }
            for name, signature in self.loaded.signatures.items()
        }
        self._answer({"metadata": {"signature_def": {"signature_def": signatures}}})

    def do_POST(self):
        assert self.path.endswith(":predict")
        length = int(self.headers["Content-Length"])
        request = json.loads(self.rfile.read(length))
        signature = self.loaded.signatures[request["signature_name"]]
        outputs = signature(**as_tensors(signature, request["inputs"]))
        self._answer({"outputs": {k: v.numpy().tolist() for k, v in outputs.items()}})

    def _answer(self, values):
        body = json.dumps(values, default=bytes.decode).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


@contextlib.contextmanager
def serving(loaded):
    """A server of `loaded` on a free port."""
    handler = type("Handler", (Server,), {"loaded": loaded})
    with http.server.HTTPServer(("localhost", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()

# The application of lenient.py, for puma.
run lambda { |env|
  path = env["PATH_INFO"]
  $stdout.write("ran #{env["REQUEST_METHOD"]} #{path}\n")
  $stdout.flush
  env["rack.input"].read if path.end_with?("/read")
  status = path.end_with?("/unchanged") ? 304 : 200
  [status, { "Content-Type" => "text/plain", "Content-Length" => path.bytesize.to_s }, [path]]
}

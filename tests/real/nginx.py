#!/usr/bin/env python3
"""Requests to an nginx that was just built, one line of result for each: nginx.py NGINX

nginx's own tests are not in its source. These start it with workers, a thread pool, TLS
and HTTP/2, go through its modules, reload it, change its program while it runs, and stop it.
"""
import gzip
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time

BODY = "".join("line %d of a file that is long enough to be packed\n" % i for i in range(4000))
CONFIG = """
worker_processes 2;
error_log logs/error.log info;
pid logs/nginx.pid;
thread_pool pool threads=4;
events { worker_connections 256; }
http {
    types { text/html html; text/plain txt; }
    default_type application/octet-stream;
    access_log logs/access.log;
    log_format long '$remote_addr "$request" $status $body_bytes_sent "$http_referer" $request_time';
    gzip_types text/plain;
    gzip_min_length 100;
    limit_req_zone $binary_remote_addr zone=slow:1m rate=1r/m;
    limit_conn_zone $server_name zone=few:1m;
    proxy_cache_path cache keys_zone=cache:1m max_size=10m;
    map $arg_n $word { default other; 1 one; ~^2 two; }
    geo $where { default far; 127.0.0.0/8 near; }
    split_clients "$arg_s" $half { 50% a; * b; }
    upstream back { server 127.0.0.1:@1 weight=2; server 127.0.0.1:@2 backup; keepalive 4; }
    upstream hashed { hash $request_uri consistent; server 127.0.0.1:@1; server 127.0.0.1:@1 max_fails=2; }
    upstream broken { server 127.0.0.1:@9; }
    server {
        listen 127.0.0.1:@0;
        listen 127.0.0.1:@3 ssl http2;
        ssl_certificate tls.pem;
        ssl_certificate_key tls.key;
        root html;
        error_page 404 /missing.html;
        location / { index index.html; }
        location /gzip/ { alias html/; gzip on; }
        location /pool/ { alias html/; aio threads=pool; sendfile off; directio 4k; output_buffers 2 16k; }
        location /send/ { alias html/; sendfile on; tcp_nopush on; sendfile_max_chunk 8k; }
        location /list/ { alias html/deep/; autoindex on; autoindex_exact_size off; }
        location = /word { return 200 "$word $where $half\\n"; }
        location /moved { return 301 /index.html; }
        location /again { rewrite ^/again/(\\d+)/(.*)$ /index.html?n=$1&rest=$2 last; rewrite ^/again/x /word?n=1 last; return 403; }
        location /if { if ($request_method = POST) { return 405; } if ($arg_a ~* "^b+$") { return 201 "b"; } return 204; }
        location /auth { auth_basic "who"; auth_basic_user_file users; alias html/; }
        location /asked/ { auth_request /judge; alias html/; }
        location = /judge { internal; if ($http_x_ok) { return 204; } return 403; }
        location /deny { deny all; }
        location /slow/ { limit_req zone=slow burst=1 nodelay; alias html/; }
        location /few { limit_conn few 1; limit_rate 200k; alias html/; }
        location /put/ { alias put/; dav_methods PUT DELETE MKCOL COPY MOVE; create_full_put_path on; client_max_body_size 100k; }
        location /proxy/ { proxy_pass http://back/; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header X-From $remote_addr; }
        location /hashed/ { proxy_pass http://hashed/; }
        location /broken { proxy_pass http://broken; proxy_connect_timeout 2s; error_page 502 =200 /word?n=2; }
        location /cached/ { proxy_pass http://back/; proxy_cache cache; proxy_cache_valid 200 1m; add_header X-Cache $upstream_cache_status; }
        location /sliced/ { slice 16k; proxy_pass http://back/; proxy_cache cache; proxy_cache_key $uri$slice_range; proxy_set_header Range $slice_range; proxy_http_version 1.1; proxy_cache_valid 200 206 1m; }
        location /ssi/ { alias html/; ssi on; }
        location /sub/ { alias html/; sub_filter 'line' 'LINE'; sub_filter_once off; sub_filter_types text/plain; }
        location /add/ { alias html/; add_before_body /word; add_after_body /index.html; addition_types text/plain; }
        location /empty { empty_gif; }
        location /state { stub_status; }
        location /mirrored { mirror /word; return 200 "m"; }
        location /charset/ { alias html/; charset utf-8; expires 1h; etag on; }
        location /secret/ { secure_link $arg_md5; secure_link_md5 "$uri key"; if ($secure_link = "") { return 403; } alias html/; }
        location /refer { valid_referers server_names *.example.org; if ($invalid_referer) { return 403; } return 200 "r"; }
        location /browser { modern_browser unlisted; if ($modern_browser) { return 200 "new"; } return 200 "old"; }
        location /cgi { fastcgi_pass 127.0.0.1:@9; }
    }
    server {
        listen 127.0.0.1:@1;
        root html;
        set_real_ip_from 127.0.0.1;
        real_ip_header X-From;
        location /echo { return 200 "$request_method $http_x_from $uri $args\\n"; }
    }
    server { listen 127.0.0.1:@2; return 200 "backup\\n"; }
}
stream {
    upstream one { least_conn; server 127.0.0.1:@1; }
    server { listen 127.0.0.1:@4; proxy_pass one; }
}
mail { server_name x; auth_http 127.0.0.1:@9/auth; server { listen 127.0.0.1:@5; protocol smtp; smtp_auth login plain; } }
"""


def free_ports(count):
    held = [socket.socket() for _ in range(count)]
    for s in held:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in held]
    for s in held:
        s.close()
    return ports


def talk(port, data, tls=None):
    """All that the server answers until it closes."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as s:
        if tls:
            s = tls.wrap_socket(s)
        s.sendall(data)
        parts = []
        try:
            while part := s.recv(65536):
                parts.append(part)
        except ConnectionResetError:
            parts.append(b"(reset)")
        s.close()
        return b"".join(parts)


class Server:
    def __init__(self, program):
        self.program, self.home = os.path.abspath(program), os.path.abspath("run")
        self.ports = free_ports(10)
        shutil.rmtree(self.home, ignore_errors=True)
        for folder in ("logs", "html/deep", "put", "cache", "conf"):
            os.makedirs(os.path.join(self.home, folder))
        text = CONFIG
        for at, port in enumerate(self.ports):
            text = text.replace("@%d" % at, str(port))
        self.write("conf/nginx.conf", text if os.getuid() else "user root;\n" + text)
        for place in ("", "conf/"):
            self.write(place + "users", "me:{PLAIN}secret\n")
        self.write("html/index.html", "<h1>here</h1>\n")
        self.write("html/missing.html", "gone\n")
        self.write("html/file.txt", BODY)
        self.write("html/deep/one.txt", "1")
        self.write("html/deep/two.txt", "2" * 5000)
        self.write("html/part.html", "<!--# set var=\"x\" value=\"1\" --><!--# if expr=\"$x = 1\" -->yes<!--# else -->no<!--# endif -->"
                   "<!--# include virtual=\"/word?n=1\" --><!--# echo var=\"uri\" -->\n")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "3", "-subj", "/CN=localhost",
                        "-keyout", "conf/tls.key", "-out", "conf/tls.pem"], cwd=self.home, check=True, capture_output=True)

    def write(self, name, text):
        with open(os.path.join(self.home, name), "w") as f:
            f.write(text)

    def run(self, *words):
        done = subprocess.run([self.program, "-p", self.home, *words], capture_output=True, text=True)
        return done.returncode, done.stderr + done.stdout

    def pid(self):
        with open(os.path.join(self.home, "logs", "nginx.pid")) as f:
            return int(f.read())

    def get(self, path, *headers, method="GET", body="", port=0, tls=None):
        lines = ["%s %s HTTP/1.1" % (method, path), "Host: localhost", "Connection: close", *headers]
        if body:
            lines.append("Content-Length: %d" % len(body))
        return talk(self.ports[port], ("\r\n".join(lines) + "\r\n\r\n" + body).encode(), tls)


def wait_for(what, seconds=120):
    """Until it is so; a long limit, for a busy machine."""
    end = time.time() + seconds
    while time.time() < end:
        try:
            if what():
                return True
        except OSError:
            pass
        time.sleep(0.05)
    return False


def gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def body_of(answer):
    return answer.split(b"\r\n\r\n", 1)[1]


def requests(server):
    """(name, whether it is as it should be)"""
    get = server.get
    tls = ssl.create_default_context()
    tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
    two = ssl.create_default_context()
    two.check_hostname, two.verify_mode = False, ssl.CERT_NONE
    two.set_alpn_protocols(["h2"])
    text = BODY.encode()
    has = lambda answer, *words: all(w.encode() in answer for w in words)
    yield "index", has(get("/"), "200 OK", "here")
    yield "missing", has(get("/nothing"), "404", "gone")
    yield "head", body_of(get("/file.txt", method="HEAD")) == b""
    yield "whole file", body_of(get("/file.txt")) == text
    yield "range", body_of(get("/file.txt", "Range: bytes=100-199")) == text[100:200]
    yield "ranges", has(get("/file.txt", "Range: bytes=0-9,50-59,-5"), "206", "multipart/byteranges")
    yield "bad range", has(get("/file.txt", "Range: bytes=9999999-"), "416")
    yield "not modified", has(get("/file.txt", "If-Modified-Since: Fri, 01 Jan 2100 00:00:00 GMT"), "200 OK")
    yield "etag", has(get("/charset/file.txt", "If-None-Match: *"), "304")
    yield "expires", has(get("/charset/file.txt"), "Expires", "charset=utf-8")
    packed = get("/gzip/file.txt", "Accept-Encoding: gzip", method="GET")
    yield "gzip", has(packed, "Content-Encoding: gzip") and unchunk(packed, gzip.decompress) == text
    yield "thread pool", body_of(get("/pool/file.txt")) == text
    yield "sendfile", body_of(get("/send/file.txt")) == text
    yield "list", has(get("/list/"), "one.txt", "two.txt")
    for n, word in (("1", "one"), ("22", "two"), ("3", "other")):
        yield "map " + n, has(get("/word?n=%s&s=%s" % (n, n)), word + " near")
    yield "moved", has(get("/moved"), "301", "/index.html")
    yield "rewrite", has(get("/again/12/x"), "here")
    yield "rewrite to word", has(get("/again/x"), "one")
    yield "rewrite denied", has(get("/again/"), "403")
    yield "if", has(get("/if?a=bb"), "201") and has(get("/if"), "204") and has(get("/if", method="POST", body="x"), "405")
    yield "no password", has(get("/auth/index.html"), "401")
    yield "wrong password", has(get("/auth/index.html", "Authorization: Basic bWU6bm8="), "401")
    yield "password", has(get("/auth/index.html", "Authorization: Basic bWU6c2VjcmV0"), "here")
    yield "asked, no", has(get("/asked/index.html"), "403")
    yield "asked, yes", has(get("/asked/index.html", "X-Ok: 1"), "here")
    yield "denied", has(get("/deny"), "403")
    yield "limit of requests", [has(get("/slow/index.html"), "200 OK") for _ in range(4)] == [True, True, False, False]
    yield "limit of rate", body_of(get("/few/file.txt")) == text
    yield "put", has(get("/put/a/b.txt", method="PUT", body="hello"), "201")
    yield "get what was put", has(get("/put/a/b.txt"), "hello")
    yield "copy", has(get("/put/a/b.txt", "Destination: /put/c.txt", method="COPY"), "204")
    yield "move", has(get("/put/c.txt", "Destination: /put/d.txt", method="MOVE"), "204")
    yield "folder", has(get("/put/new/", method="MKCOL"), "201")
    yield "delete", has(get("/put/a/b.txt", method="DELETE"), "204")
    yield "too large", has(get("/put/large", method="PUT", body="x" * 200000), "413")
    yield "proxy", body_of(get("/proxy/file.txt")) == text or unchunk(get("/proxy/file.txt")) == text
    yield "proxy, post", has(get("/proxy/echo?x=1", method="POST", body="b" * 50000), "POST 127.0.0.1 /echo x=1")
    yield "hashed upstream", has(get("/hashed/echo?%d" % 7), "GET")
    yield "broken upstream", has(get("/broken"), "200", "two")
    yield "cache, miss", has(get("/cached/file.txt"), "X-Cache: MISS")
    yield "cache, hit", has(get("/cached/file.txt"), "X-Cache: HIT")
    yield "slices", body_of(get("/sliced/file.txt")) == text
    yield "slice of a range", body_of(get("/sliced/file.txt", "Range: bytes=20000-40000")) == text[20000:40001]
    yield "ssi", has(get("/ssi/part.html"), "yes", "one", "/ssi/part.html")
    yield "sub", unchunk(get("/sub/file.txt")) == text.replace(b"line", b"LINE")
    yield "add", unchunk(get("/add/file.txt")) == body_of(get("/word")) + text + body_of(get("/"))
    yield "empty", has(get("/empty"), "GIF89a")
    yield "state", has(get("/state"), "Active connections")
    yield "mirror", has(get("/mirrored"), "200")
    yield "secret", has(get("/secret/index.html"), "403") and has(get("/secret/index.html?md5=x"), "403")
    yield "referer", has(get("/refer", "Referer: http://a.example.org/"), "200 OK") and has(get("/refer", "Referer: http://b.com/"), "403")
    yield "browser", has(get("/browser", "User-Agent: Mozilla/5.0 (X11)"), "new")
    yield "no cgi", has(get("/cgi"), "502")
    yield "tls", body_of(get("/file.txt", port=3, tls=tls)) == text
    yield "tls refuses plain", has(get("/", port=3), "400 Bad Request")
    yield "http2 preface", talk(server.ports[3], b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0" + b"\0\0\3\0\0\0\0\0\1abc"
                                + b"\0\0\10\7\0\0\0\0\0\0\0\0\0\0\0\0\0", two)[3:4] == b"\4"
    yield "stream", has(get("/echo", port=4), "GET")
    yield "mail", has(talk(server.ports[5], b"EHLO x\r\nAUTH PLAIN AG1lAG1l\r\nQUIT\r\n"), "220", "250", "AUTH")
    yield "pipeline", talk(server.ports[0], b"GET /word HTTP/1.1\r\nHost: a\r\n\r\n" * 5 + b"GET /word HTTP/1.0\r\n\r\n").count(b"200 OK") == 6
    yield "chunked body", has(talk(server.ports[0], b"PUT /put/chunks HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
                                   b"5\r\nhello\r\n0\r\n\r\n"), "201")
    yield "nonsense", has(talk(server.ports[0], b"\1\2\3 nonsense\r\n\r\n"), "400")
    yield "no host", has(talk(server.ports[0], b"GET / HTTP/1.1\r\n\r\n"), "400")
    yield "long header", has(get("/", "X-Long: " + "y" * 40000), "400")
    for at in range(60):
        size = at * 331
        yield "sizes %d" % at, body_of(get("/file.txt", "Range: bytes=%d-%d" % (size, 2 * size))) == text[size:2 * size + 1]


def unchunk(answer, then=lambda b: b):
    body = body_of(answer)
    if b"Transfer-Encoding: chunked" in answer.split(b"\r\n\r\n", 1)[0]:
        parts, rest = [], body
        while rest:
            size, rest = rest.split(b"\r\n", 1)
            size = int(size, 16)
            parts.append(rest[:size])
            rest = rest[size + 2:]
        body = b"".join(parts)
    return then(body)


def life(server):
    """Reload, reopen its logs, another program in its place, a worker killed by a signal, the end."""
    first = server.pid()
    answers = lambda: b"200 OK" in server.get("/word")
    log = os.path.join(server.home, "logs", "error.log")
    yield "reload", server.run("-s", "reload")[0] == 0 and wait_for(lambda: "gracefully shutting down" in open(log).read()) and answers()
    os.rename(os.path.join(server.home, "logs", "access.log"), os.path.join(server.home, "logs", "old.log"))
    yield "reopen", server.run("-s", "reopen")[0] == 0 and wait_for(lambda: os.path.exists(os.path.join(server.home, "logs", "access.log")))
    workers = subprocess.run(["ps", "-o", "pid=", "--ppid", str(first)], capture_output=True, text=True).stdout.split()
    os.kill(int(workers[0]), signal.SIGTERM)
    yield "a worker ends", wait_for(lambda: gone(int(workers[0]))) and wait_for(answers)
    os.kill(first, signal.SIGUSR2)
    yield "new program", wait_for(lambda: server.pid() != first) and answers()
    os.kill(first, signal.SIGQUIT)
    yield "old program ends", wait_for(lambda: gone(first)) and wait_for(answers)
    second = server.pid()
    yield "quit", server.run("-s", "quit")[0] == 0 and wait_for(lambda: gone(second))
    yield "stop", server.run()[0] == 0 and wait_for(answers) and server.run("-s", "stop")[0] == 0
    yield "all gone", wait_for(lambda: not os.path.exists(os.path.join(server.home, "logs", "nginx.pid")))
    with open(log) as f:
        text = f.read()
    yield "nobody crashed", not re.search(r"exited on signal|\[alert\]", text)


def main():
    server = Server(sys.argv[1])
    failed = 0

    def tell(results):
        bad = 0
        for name, good in results:
            print("%s: %s" % (name, "ok" if good else "FAILED"), flush=True)
            bad += not good
        return bad
    tell([("version", server.run("-V")[0] == 0), ("configuration", server.run("-t")[0] == 0), ("wrong option", server.run("-x")[0] == 1),
          ("no configuration", server.run("-c", "nowhere")[0] == 1)])
    status, said = server.run()
    if status:
        raise SystemExit(said)
    try:
        failed += tell(requests(server)) + tell(life(server))
    finally:
        if os.path.exists(os.path.join(server.home, "logs", "nginx.pid")):
            os.kill(server.pid(), signal.SIGTERM)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

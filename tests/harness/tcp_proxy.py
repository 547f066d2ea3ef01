"""A TCP proxy in front of a broker: its connections can be held up, cut or refused. A broker must advertise the proxy's address."""
import selectors
import socket
import struct
import threading


class TcpProxy:
    """Forwards 127.0.0.1:`port` to 127.0.0.1:`target_port`.

    reset(): every open connection ends with RST. stop(): the same, and new ones are refused until start(). hold(): connections stay
    open and nothing is forwarded until release(), as when packets are lost.
    """

    def __init__(self, target_port, port=0):
        self._target_port = target_port
        self.port = port
        self._lock = threading.Lock()
        self._pairs = {}  # socket -> its other end
        self._flowing = threading.Event()
        self._flowing.set()
        self._listener = None
        self._selector = None
        self._thread = None
        self._wake, self._woken = socket.socketpair()
        self._running = False
        self.connections = 0
        self.watch = None  # called with a client's connection and the bytes it sends
        self._clients = set()

    def start(self):
        self._listener = socket.socket()
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._listener.bind(("127.0.0.1", self.port))
        self.port = self._listener.getsockname()[1]
        self._listener.listen(64)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._selector.register(self._woken, selectors.EVENT_READ)
        self._running = True
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        return self

    def stop(self):
        if not self._running:
            return
        self._running = False
        self._flowing.set()
        self._wake.send(b"x")
        self._thread.join()
        self._listener.close()
        self.reset()
        self._selector.close()

    def hold(self):
        self._flowing.clear()

    def release(self):
        self._flowing.set()

    def reset(self):
        with self._lock:
            ends, self._pairs = list(self._pairs), {}
        for end in ends:
            self._forget(end)
            try:
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # RST instead of FIN
            except OSError:
                pass
            end.close()

    def _forget(self, end):
        try:
            self._selector.unregister(end)
        except (KeyError, ValueError):
            pass

    def _run(self):
        while self._running:
            for key, _ in self._selector.select():
                self._flowing.wait()
                if key.fileobj is self._woken:
                    self._woken.recv(16)
                elif key.fileobj is self._listener:
                    self._accept()
                else:
                    self._forward(key.fileobj)

    def _accept(self):
        near, _ = self._listener.accept()
        far = socket.socket()
        if far.connect_ex(("127.0.0.1", self._target_port)) != 0:
            near.close()
            return
        with self._lock:
            self._pairs[near], self._pairs[far] = far, near
            self._clients.add(near)
            self._selector.register(near, selectors.EVENT_READ)
            self._selector.register(far, selectors.EVENT_READ)
        self.connections += 1

    def _forward(self, end):
        with self._lock:
            other = self._pairs.get(end)
        if other is None:
            return
        try:
            data = end.recv(1 << 16)
            if data:
                if self.watch is not None and end in self._clients:
                    self.watch(end, data)
                other.sendall(data)
                return
        except OSError:
            pass
        with self._lock:
            self._pairs.pop(end, None)
            self._pairs.pop(other, None)
        for one in (end, other):
            self._clients.discard(one)
            self._forget(one)
            one.close()

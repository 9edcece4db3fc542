import { EventEmitter } from 'node:events';

/**
 * A web server that does not listen: the simulated Parley does not get HTTP requests, but every
 * gateway must be able to start a server.
 */
class DeafServer extends EventEmitter {
  listen(_port: number, _host: string, done: () => void): this {
    setImmediate(done);
    return this;
  }

  address(): { readonly port: number } {
    return { port: 1 };
  }

  close(done?: () => void): this {
    setImmediate(() => done?.());
    return this;
  }

  closeAllConnections(): void {}
}

/** Must be called before the gateway's modules are loaded. */
export function installServers(): void {
  Object.assign(process.getBuiltinModule('node:http'), { createServer: () => new DeafServer() });
}

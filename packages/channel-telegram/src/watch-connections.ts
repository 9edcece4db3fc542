import { AsyncLocalStorage } from 'node:async_hooks';
import { Agent } from 'node:http';
import https from 'node:https';

/** A call that failed before a connection was ready for it: no byte of it left. */
export class Unsent extends Error {
  constructor(cause: unknown) {
    super('The call was not sent.', { cause });
  }
}

/** Calls whose connections are watched; the agent must make them. */
export interface WatchedConnections {
  readonly agent: Agent;
  /**
   * Makes a call; rejects with `Unsent` where its connection never became ready. `begun` is called before
   * anything is written on it.
   */
  watched<T>(call: () => Promise<T>, begun?: () => void): Promise<T>;
}

interface Call {
  isReady: boolean;
  begun: (() => void) | undefined;
}

/**
 * Telegraf tells neither whether a connection came about nor which one a request used, so the agent
 * looks: a request is written once its new connection is ready (with TLS: once the handshake is
 * over), or at once on one that was kept. What fails before that was certainly not sent (D04).
 */
export function watchConnections(address: string): WatchedConnections {
  const calls = new AsyncLocalStorage<Call>();
  const isTls = address.startsWith('https:');
  // As Node's own agent: it knows the proxy, and drops idle connections before a server closes them under a send.
  const { options } = https.globalAgent;
  const agent = isTls
    ? new https.Agent(options)
    : new Agent({ ...options, defaultPort: 80, protocol: 'http:' });
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (options, callback) => {
    const call = calls.getStore();
    // Called without an error when a tunnel through a proxy is ready, and nothing else tells that.
    const socket = connect(options, (error, made) => {
      if (!error) ready(call);
      callback?.(error, made);
    });
    socket?.once('connect', () => begin(call));
    socket?.once(isTls ? 'secureConnect' : 'connect', () => ready(call));
    return socket;
  };
  const reuse = agent.reuseSocket.bind(agent);
  agent.reuseSocket = (socket, request) => {
    ready(calls.getStore());
    reuse(socket, request);
  };
  return {
    agent,
    async watched(make, begun) {
      const call: Call = { isReady: false, begun };
      try {
        return await calls.run(call, make);
      } catch (thrown) {
        throw call.isReady ? thrown : new Unsent(thrown);
      }
    },
  };
}

function ready(call: Call | undefined): void {
  if (call === undefined) return;
  begin(call);
  call.isReady = true;
}

function begin(call: Call | undefined): void {
  call?.begun?.();
  if (call !== undefined) call.begun = undefined;
}

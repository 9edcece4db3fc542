import https, { type AgentOptions } from 'node:https';
import { connect } from 'node:net';

/**
 * Redirects requests for these hosts to loopback ports without TLS, for addresses that no option of
 * a client library can change, such as token endpoints. Affects `fetch` and all code that uses
 * Node's global agent for HTTPS. Returns a function that restores both.
 */
export function rerouteHosts(ports: Readonly<Record<string, number>>): () => void {
  const realFetch = globalThis.fetch;
  globalThis.fetch = (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const port = ports[url.hostname];
    if (port === undefined) return realFetch(input, init);
    const target = `http://127.0.0.1:${port}${url.pathname}${url.search}`;
    return realFetch(input instanceof Request ? new Request(target, input) : target, init);
  };
  const agent = https.globalAgent;
  const { createConnection } = agent;
  agent.createConnection = (options: AgentOptions & { readonly host?: string }, done) => {
    const port = ports[options.host ?? ''];
    if (port === undefined) return createConnection.call(agent, options, done);
    return connect(port, '127.0.0.1');
  };
  return () => {
    globalThis.fetch = realFetch;
    agent.createConnection = createConnection;
    // Idle connections would otherwise serve later requests for the real hosts.
    agent.destroy();
  };
}

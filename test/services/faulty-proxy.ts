import { once } from 'node:events';
import { connect, createServer, type Server, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** The direction that a fault affects. */
export type FaultDirection = 'to-server' | 'to-client' | 'both';
/**
 * The connections that a fault affects: currently open connections, connections opened from now on,
 * or all.
 */
export type AffectedConnections = 'open' | 'new' | 'all';

/** Injects faults between a TCP client and its server. */
export interface FaultyProxy {
  /** The address of the server, through the proxy. */
  readonly url: string;
  /** The number of open connections. */
  readonly connections: number;
  /** Delays every further piece by this time, in ms, on all connections; the order is kept. */
  delay(ms: number, direction?: FaultDirection): void;
  /**
   * Silently drops bytes and ends of connections, like a firewall that forgot the connection: an
   * affected connection stays silent even after `restore`, and the server does not see that its
   * client left.
   */
  swallow(connections?: AffectedConnections, direction?: FaultDirection): void;
  /** Holds bytes back until `restore`, like an unplugged cable or a stopped server. */
  hold(connections?: AffectedConnections, direction?: FaultDirection): void;
  /**
   * Ends the data (FIN) toward one side of each open connection; the other direction stays open.
   */
  halfClose(direction: 'to-server' | 'to-client'): void;
  /** Resets all open connections (RST). New connections are accepted. */
  reset(): void;
  /** Closes all connections and refuses new connections. */
  cut(): Promise<void>;
  /**
   * Ends every fault: no delay, nothing held back, new connections work. The port stays the same.
   */
  restore(): Promise<void>;
  close(): Promise<void>;
}

type LaneFault = 'none' | 'hold' | 'swallow';

/** One direction of one connection: reads from one socket, writes to the other. */
interface ProxyLane {
  readonly to: Socket;
  fault: LaneFault;
  delayMs: number;
  /** The writes in progress, in order. */
  last: Promise<void>;
  held: Array<() => void>;
}

interface ProxyLink {
  readonly client: Socket;
  readonly upstream: Socket;
  readonly lanes: Readonly<Record<'to-server' | 'to-client', ProxyLane>>;
}

const WAYS = ['to-server', 'to-client'] as const;

/**
 * Starts a proxy on a free loopback port in front of the server of a URL such as `postgres://…`.
 */
export async function startFaultyProxy(url: string): Promise<FaultyProxy> {
  const target = new URL(url);
  const links = new Set<ProxyLink>();
  // The initial state of a new connection.
  const fresh = {
    'to-server': { fault: 'none' as LaneFault, delayMs: 0 },
    'to-client': { fault: 'none' as LaneFault, delayMs: 0 },
  };
  let server: Server | undefined;
  let port = 0;

  const join = (client: Socket): void => {
    const isSwallowed = fresh['to-server'].fault === 'swallow';
    // An unconnected socket accepts nothing and sends nothing.
    const upstream = isSwallowed
      ? new Socket()
      : connect({ host: target.hostname, port: Number(target.port), allowHalfOpen: true });
    const lane = (to: Socket, way: (typeof WAYS)[number]): ProxyLane => ({
      to,
      ...fresh[way],
      last: Promise.resolve(),
      held: [],
    });
    const link: ProxyLink = {
      client,
      upstream,
      lanes: { 'to-server': lane(upstream, 'to-server'), 'to-client': lane(client, 'to-client') },
    };
    links.add(link);
    forwardData(client, link.lanes['to-server']);
    forwardData(upstream, link.lanes['to-client']);
    for (const socket of [client, upstream]) {
      socket.setNoDelay(true);
      socket.on('close', () => {
        if (client.destroyed && upstream.destroyed) links.delete(link);
      });
    }
  };
  const listen = async (): Promise<void> => {
    if (server !== undefined) return;
    server = createServer({ allowHalfOpen: true }, join);
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address !== null && typeof address !== 'string') port = address.port;
  };
  const cut = async (): Promise<void> => {
    const closing = server;
    server = undefined;
    for (const { client, upstream } of links) {
      client.destroy();
      upstream.destroy();
    }
    links.clear();
    if (closing === undefined) return;
    closing.close();
    await once(closing, 'close');
  };
  const setFault = (
    fault: LaneFault,
    connections: AffectedConnections,
    direction: FaultDirection,
  ): void => {
    for (const way of WAYS) {
      if (direction !== 'both' && direction !== way) continue;
      if (connections !== 'open') fresh[way].fault = fault;
      if (connections === 'new') continue;
      for (const { lanes } of links) lanes[way].fault = fault;
    }
  };
  await listen();
  return {
    url: Object.assign(new URL(url), { hostname: '127.0.0.1', port: `${port}` }).href,
    get connections() {
      return [...links].filter(({ client }) => !client.destroyed).length;
    },
    delay(ms, direction = 'to-server') {
      for (const way of WAYS) {
        if (direction !== 'both' && direction !== way) continue;
        fresh[way].delayMs = ms;
        for (const { lanes } of links) lanes[way].delayMs = ms;
      }
    },
    swallow: (connections = 'all', direction = 'both') =>
      setFault('swallow', connections, direction),
    hold: (connections = 'all', direction = 'both') => setFault('hold', connections, direction),
    halfClose(direction) {
      for (const { lanes } of links) lanes[direction].to.end();
    },
    reset() {
      for (const { client, upstream } of links) {
        client.resetAndDestroy();
        upstream.resetAndDestroy();
      }
      links.clear();
    },
    cut,
    async restore() {
      for (const way of WAYS) {
        Object.assign(fresh[way], { fault: 'none', delayMs: 0 });
        for (const { lanes } of links) releaseLane(lanes[way]);
      }
      await listen();
    },
    close: cut,
  };
}

/** Forwards data, end and close of one socket as far as the fault of its lane currently allows. */
function forwardData(from: Socket, lane: ProxyLane): void {
  const pass = (deliver: () => void): void => {
    const due = lane.delayMs === 0 ? undefined : sleep(lane.delayMs, undefined, { ref: false });
    lane.last = lane.last.then(async () => {
      await due;
      if (lane.fault === 'hold') lane.held.push(deliver);
      else if (lane.fault === 'none') deliver();
    });
  };
  from.on('data', (piece: Buffer) => pass(() => lane.to.write(piece)));
  from.on('end', () => pass(() => lane.to.end()));
  from.on('close', () => pass(() => lane.to.destroy()));
  // An error is followed by `close`, which is forwarded to the other side.
  from.on('error', () => undefined);
}

/** Ends a fault; what was swallowed is lost, and so is the connection. */
function releaseLane(lane: ProxyLane): void {
  lane.delayMs = 0;
  if (lane.fault === 'swallow') return;
  lane.fault = 'none';
  for (const deliver of lane.held.splice(0)) deliver();
}

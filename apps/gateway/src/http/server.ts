import type { HttpFacet } from '@parley/channels';
import type { Logger } from '@parley/contracts';
import type { AccountStatus } from '../channel-account.ts';

/** The gateway's web server: page, channel routes, health, metrics. */
export interface HttpServer {
  /** `http://host:port` as it is really served (port 0 chooses one). */
  readonly address: string;
  close(): Promise<void>;
}

/** What the web server shows and guards. */
export interface HttpOptions {
  readonly host: string;
  readonly port: number;
  /** Secret that opens everything but health; at least 128 bits, base64url. */
  readonly token: string;
  readonly log: Logger;
  readonly metrics: () => Promise<string>;
  /** Decides readiness. */
  readonly status: () => readonly AccountStatus[];
  /** What `GET /api/status` answers, as JSON. */
  readonly report: () => Promise<object>;
  /** Rejects when the database does not answer. */
  readonly ping: () => Promise<void>;
  /** The routes of a channel account, if it has any. */
  readonly channel: (channel: string, account: string) => HttpFacet | undefined;
}

/** Listens. Rejects with a GatewayError that says what to do when the port is taken. */
export declare function startHttp(options: HttpOptions): Promise<HttpServer>;

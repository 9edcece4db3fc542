import { startPresence } from '@parley/channels';
import { startSweep } from '@parley/queue';
import type { AccountDeps, AccountStatus } from './accounts/account.ts';
import type { AccountRights } from './accounts/account-rights.ts';
import { GatewayAccounts, type PlannedAccount } from './accounts/gateway-accounts.ts';
import { sweepAccounts } from './accounts/sweep-accounts.ts';
import type { StatusReport } from './http/api.ts';
import type { ApiServices } from './http/api-routes.ts';
import type { HttpAppOptions, PageFiles } from './http/app.ts';
import type { HealthOptions, HealthReport } from './http/health.ts';
import type { PageSessionLimits } from './http/page-sessions.ts';
import { type HttpOptions, startHttp } from './http/server.ts';

/** A running gateway: channel connections, ingress, delivery and the web server. */
export interface Gateway {
  /** The address of the web page and the API, for example `http://127.0.0.1:7411`. */
  readonly address: string;
  status(): readonly AccountStatus[];
  /**
   * Applies new settings: changed accounts are opened, closed or reopened, and all others stay
   * connected (D12). Resolves when the new settings are applied.
   */
  reload(accounts: readonly PlannedAccount[], services: GatewayServices): Promise<void>;
  /** Stops all channels from receiving; the first step of a shutdown (D11). */
  stopReceiving(): Promise<void>;
  /** Ends deliveries and connections. Sends in progress may take up to `graceMs`. */
  close(graceMs: number): Promise<void>;
}

export interface GatewayOptions
  extends Omit<AccountDeps, 'rights' | 'token' | 'sweeps'>,
    Pick<HealthOptions, 'workers'>,
    ApiServices {
  readonly accounts: readonly PlannedAccount[];
  /** Secrets to remove from all HTTP responses. */
  readonly secrets: HttpOptions['secrets'];
  readonly http: {
    readonly host: string;
    readonly port: number;
    /** Returns the current token. */
    readonly token: () => string;
    readonly sessions: PageSessionLimits;
  };
  /** Opens the files of the web page. The page's code is loaded on the first request. */
  readonly page: () => Promise<PageFiles>;
  /** Returns the text of `/metrics`. */
  readonly metrics: (channels: readonly AccountStatus[], health: HealthReport) => Promise<string>;
  /** Returns the report of `parley status`, without the channels. */
  readonly report: () => Promise<StatusReport>;
  /** The interval (ms) between checks for paused accounts; the default is `FOLLOW_PAUSES_MS`. */
  readonly followPausesMs?: number;
}

/**
 * How long (ms) people's files are kept after they are fetched. Files that belong to unfinished
 * turns are kept longer.
 */
const FILES_KEPT_MS = 24 * 60 * 60_000;
const TIDY_MS = 10 * 60_000;
/** How often (ms) a gateway checks whether another gateway has paused or resumed an account. */
const FOLLOW_PAUSES_MS = 15_000;

/**
 * The services of a gateway that can be replaced while it is running. Later requests use the new
 * services.
 */
export interface GatewayServices extends ApiServices, Pick<GatewayOptions, 'report'> {}

/**
 * Opens all accounts and the web server. If an account cannot be opened, its status reports the
 * reason, and other accounts are not affected (D12). Rejects only if the address of the web server
 * cannot be used.
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { store, clock, log } = options;
  const sweeps = sweepAccounts(options);
  const accounts = new GatewayAccounts({ ...options, sweeps, token: options.http.token }, () =>
    openAccountRights(options),
  );
  const presence = startPresence({
    bus: options.bus,
    adapterOf: (channel, account) => accounts.adapterOf(channel, account),
    mayPreview: (route) => accounts.mayPreview(route),
    updateEveryMs: (route) => accounts.updateEveryMs(route),
    owes: async (chat) => (await store.outbox.next(chat)) !== null,
    log,
  });
  let services: GatewayServices = options;
  const http = await startHttp({ ...options.http, log, secrets: options.secrets }, async () => {
    const [{ createHttpApp }, page] = await Promise.all([import('./http/app.ts'), options.page()]);
    return createHttpApp({ ...toHttpOptions({ ...options, ...services }, accounts), page });
  });
  await accounts.use(options.accounts);
  const tidying = startSweep('old attachments', TIDY_MS, log, async () => {
    const countFrom = Math.min(clock(), (await store.retention.last())?.countedTo ?? 0);
    await store.attachments.forget(countFrom - FILES_KEPT_MS, clock());
    await store.files.sweep(options.monotonic());
  });
  const following =
    options.sharedAs === undefined
      ? undefined
      : startSweep('paused accounts', options.followPausesMs ?? FOLLOW_PAUSES_MS, log, () =>
          accounts.followPauses(),
        );
  return {
    address: http.address,
    status: () => accounts.status(),
    async reload(planned, changed) {
      services = changed;
      http.reload();
      await accounts.use(planned);
    },
    stopReceiving: () => accounts.stopReceiving(),
    async close(graceMs) {
      await tidying.stop();
      await following?.stop();
      await sweeps.stop();
      await accounts.close(graceMs);
      await http.close();
      await accounts.closeRights();
      presence.close();
    },
  };
}

function toHttpOptions(
  options: GatewayOptions,
  accounts: GatewayAccounts,
): Omit<HttpAppOptions, 'page'> {
  const { operations, ...others } = options;
  const { store, http, monotonic, bus, situation, channelSettings: settings } = options;
  return {
    ...others,
    ...http,
    sessions: {
      repository: store.pageSessions,
      signIns: store.signIns,
      limits: http.sessions,
    },
    metrics: async (health) => options.metrics(accounts.status(), await health()),
    status: () => accounts.status(),
    report: async (health) => {
      const [figures, now] = await Promise.all([options.report(), health()]);
      return { channels: accounts.status(), health: now, ...figures };
    },
    operations: {
      ...{ ...operations, bus, situation },
      channels: async () => ({ accounts, monotonic, settings }),
    },
    ping: () => store.ping(),
    pingQueue: () => options.turns.check(),
    oldestWork: () => store.backlog.oldest(options.clock()),
    channel: (channel, account) => accounts.webRoutes(channel, account),
  };
}

/**
 * Loads the rights only if other gateways exist and only one gateway at a time may serve an
 * account.
 */
async function openAccountRights(options: GatewayOptions): Promise<AccountRights> {
  const { createLeasedRights } = await import('./accounts/leased-rights.ts');
  return createLeasedRights({ ...options, owner: options.sharedAs ?? '' });
}

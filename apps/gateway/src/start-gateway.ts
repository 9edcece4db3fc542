import { type HttpFacet, startPresence } from '@parley/channels';
import { startSweep } from '@parley/queue';
import type { AccountRights } from './accounts/account-rights.ts';
import type { AccountDeps, AccountPlan, AccountStatus } from './accounts/connect-account.ts';
import { sweepAccounts } from './accounts/sweep-accounts.ts';
import { brokenStatus, type ChannelAccount, openAccount } from './channel-account.ts';
import type { ApiServices } from './http/api-routes.ts';
import type { HttpAppOptions, PageFiles } from './http/app.ts';
import type { Health, HealthOptions } from './http/health.ts';
import type { PageSessionLimits } from './http/page-sessions.ts';
import { type HttpServer, startHttp } from './http/server.ts';

/** A running gateway: channel connections, ingress, delivery and the web server. */
export interface Gateway {
  /** Where the web page and the API are, for example `http://127.0.0.1:7411`. */
  readonly address: string;
  status(): readonly AccountStatus[];
  /** Takes no new messages from any channel; the first step of shutting down (D11). */
  stopReceiving(): Promise<void>;
  /** Ends deliveries and connections; what is under way gets `graceMs`. */
  close(graceMs: number): Promise<void>;
}

/** One account of the settings: ready to be opened, or broken with the reason for people. */
export type PlannedAccount =
  | { readonly kind: 'ready'; readonly plan: AccountPlan }
  | {
      readonly kind: 'broken';
      readonly channel: string;
      readonly account: string;
      readonly reason: string;
    };

/** What a gateway is started with. */
export interface GatewayOptions
  extends Omit<AccountDeps, 'rights' | 'token' | 'sweeps'>,
    Pick<HealthOptions, 'workers'>,
    ApiServices {
  readonly accounts: readonly PlannedAccount[];
  readonly http: {
    readonly host: string;
    readonly port: number;
    /** The token as it is now. */
    readonly token: () => string;
    readonly sessions: PageSessionLimits;
  };
  /** Opens the files of the web page, whose code is loaded with the first request. */
  readonly page: () => Promise<PageFiles>;
  /** Text of `/metrics`. */
  readonly metrics: (channels: readonly AccountStatus[], health: Health) => Promise<string>;
  /** What `parley status` shows besides the channels. */
  readonly report: () => Promise<object>;
}

/** How long the bytes of what people sent are kept after they were fetched, once their turn is over. */
const FILES_KEPT_MS = 24 * 60 * 60_000;
const TIDY_MS = 10 * 60_000;

/**
 * Opens every account and the web server. An account that cannot be opened is reported by its status and
 * leaves the others alone (D12). Rejects only when the web address cannot be had.
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const open = new Map<string, ChannelAccount>();
  const starting = new Set(options.accounts.flatMap(keyOfReady));
  const broken: AccountStatus[] = [];
  const presence = startPresence({
    bus: options.bus,
    adapterOf: (channel, account) => open.get(keyOf(channel, account))?.connected(),
    mayPreview: (route) =>
      open.get(keyOf(route.channel, route.account))?.mayPreview(route) ?? false,
    owes: async (chat) => (await options.store.outbox.next(chat)) !== null,
    log: options.log,
  });
  const status = (): AccountStatus[] => [
    ...[...open.values()].map((account) => account.status()),
    ...broken,
  ];
  const app = httpOptions(options, status, webRoutesOf(open, starting));
  const http = await startHttp(
    { ...options.http, log: options.log, scrub: options.scrub },
    async () => {
      const [{ createHttpApp }, page] = await Promise.all([
        import('./http/app.ts'),
        options.page(),
      ]);
      return createHttpApp({ ...app, page });
    },
  );
  const rights = await rightsOf(options);
  const sweeps = sweepAccounts(options);
  const deps = { ...options, rights, sweeps, token: options.http.token };
  await Promise.all(
    options.accounts.map(async (planned) => {
      await openPlanned(deps, planned, open, broken);
      for (const key of keyOfReady(planned)) starting.delete(key);
    }),
  );
  const { store, clock, log } = options;
  const tidying = startSweep('old attachments', TIDY_MS, log, () =>
    store.attachments.forget(clock() - FILES_KEPT_MS, clock()),
  );
  return {
    address: http.address,
    status,
    async stopReceiving() {
      rights?.leave();
      await Promise.all([...open.values()].map((account) => account.stopReceiving()));
    },
    async close(graceMs) {
      await tidying.stop();
      await sweeps.stop();
      await closeAll(open, http, graceMs);
      await rights?.close();
      presence.close();
    },
  };
}

/** What the routes show and do. */
function httpOptions(
  options: GatewayOptions,
  status: () => AccountStatus[],
  channel: HttpAppOptions['channel'],
): Omit<HttpAppOptions, 'page'> {
  const { store, http } = options;
  return {
    ...options,
    ...http,
    sessions: { repository: store.pageSessions, limits: http.sessions },
    metrics: async (health) => options.metrics(status(), await health()),
    status,
    report: async (health) => {
      const [figures, now] = await Promise.all([options.report(), health()]);
      return { channels: status(), health: now, ...figures };
    },
    work: options,
    ping: () => store.ping(),
    pingQueue: () => options.turns.depth(),
    channel,
  };
}

/** Loaded only where there are other gateways, and accounts that one gateway at a time may serve. */
async function rightsOf(options: GatewayOptions): Promise<AccountRights | undefined> {
  const { sharedAs: owner, accounts } = options;
  const isNeeded = accounts.some(
    (account) => account.kind === 'ready' && account.plan.definition.servedByAll !== true,
  );
  if (owner === undefined || !isNeeded) return undefined;
  const { leasedRights } = await import('./accounts/leased-rights.ts');
  return leasedRights({ ...options, owner });
}

async function openPlanned(
  deps: AccountDeps,
  planned: PlannedAccount,
  open: Map<string, ChannelAccount>,
  broken: AccountStatus[],
): Promise<void> {
  if (planned.kind === 'broken') {
    const { channel, account, reason } = planned;
    broken.push(brokenStatus(channel, account, reason));
    return;
  }
  const { definition, account } = planned.plan;
  try {
    open.set(keyOf(definition.id, account), await openAccount(deps, planned.plan));
  } catch (error) {
    deps.log.error({ channel: definition.id, account, error }, 'channel could not be opened');
    broken.push(brokenStatus(definition.id, account, error));
  }
}

/**
 * The web server is there before the accounts are: requests in between are answered with "try again".
 * "Not found" would be final, and a message of the page would be given up as refused (D01).
 */
function webRoutesOf(
  open: ReadonlyMap<string, ChannelAccount>,
  starting: ReadonlySet<string>,
): HttpAppOptions['channel'] {
  const later: HttpFacet = {
    open: true,
    fetch: async () =>
      new Response('Parley is starting.\n', { status: 503, headers: { 'retry-after': '1' } }),
  };
  return (channel, account) => {
    const key = keyOf(channel, account);
    return open.get(key)?.http() ?? (starting.has(key) ? later : undefined);
  };
}

function keyOfReady(planned: PlannedAccount): readonly string[] {
  if (planned.kind === 'broken') return [];
  return [keyOf(planned.plan.definition.id, planned.plan.account)];
}

async function closeAll(
  open: ReadonlyMap<string, ChannelAccount>,
  http: HttpServer,
  graceMs: number,
): Promise<void> {
  await Promise.all([...open.values()].map((account) => account.close(graceMs)));
  await http.close();
}

function keyOf(channel: string, account: string): string {
  return `${channel}/${account}`;
}

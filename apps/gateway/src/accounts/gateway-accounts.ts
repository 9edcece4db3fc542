import { isDeepStrictEqual } from 'node:util';
import type {
  ChannelAdapter,
  ChannelDefinition,
  DecisionRules,
  HttpCapability,
} from '@parley/channels';
import { createRefusalError } from '@parley/core';
import type { AccountPause } from '@parley/store';
import { type ChannelAccount, createBrokenStatus, openAccount } from '../channel-account.ts';
import type { AccountSummary } from '../channel-operations.ts';
import type { AccountDeps, AccountPlan, AccountStatus } from './account.ts';
import type { AccountName, AccountRights } from './account-rights.ts';

/** An account from the settings, which is either ready to be opened or invalid, with the reason. */
export type PlannedAccount =
  | { readonly kind: 'ready'; readonly plan: AccountPlan }
  | {
      readonly kind: 'broken';
      readonly channel: string;
      readonly account: string;
      readonly reason: string;
    };

/** How long (ms) sends in progress may take after their account's settings have changed. */
const CHANGE_GRACE_MS = 3_000;

/**
 * A gateway's accounts according to the current settings (D12). If an account cannot be opened, its
 * status reports the reason, and other accounts are not affected.
 */
export class GatewayAccounts {
  readonly #deps: AccountDeps;
  readonly #rightsOf: () => Promise<AccountRights>;
  readonly #open = new Map<
    string,
    { readonly plan: AccountPlan; readonly account: ChannelAccount }
  >();
  /** Names of the accounts that are currently being opened. */
  readonly #opening = new Set<string>();
  readonly #broken = new Map<string, AccountStatus>();
  #planned: readonly PlannedAccount[] = [];
  #paused: readonly AccountPause[] = [];
  #rights: AccountRights | undefined;
  #openingRights: Promise<AccountRights> | undefined;
  #changes: Promise<void> = Promise.resolve();
  #isStopping = false;

  /**
   * `rightsOf` is called when the first account is opened that only one gateway at a time may
   * serve.
   */
  constructor(deps: Omit<AccountDeps, 'rights'>, rightsOf: () => Promise<AccountRights>) {
    this.#deps = deps;
    this.#rightsOf = rightsOf;
  }

  /**
   * Opens new accounts, closes removed accounts, and reopens accounts whose connection settings
   * changed. An account stays connected if only its rules changed. Changes are applied one at a
   * time.
   */
  use(planned: readonly PlannedAccount[]): Promise<void> {
    return this.#change(async () => {
      this.#planned = planned;
      await this.#use();
    });
  }

  /**
   * Disconnects an account until it is resumed. The pause survives restarts and applies to all
   * gateways. `by` names the person who requested the pause.
   */
  pause({ channel, account }: AccountName, by: string): Promise<void> {
    const { store, clock } = this.#deps;
    return this.#change(async () => {
      await store.accountPauses.pause({ channel, account, by, since: clock() });
      await this.#use();
    });
  }

  resume({ channel, account }: AccountName): Promise<void> {
    return this.#change(async () => {
      await this.#deps.store.accountPauses.resume(channel, account);
      await this.#use();
    });
  }

  /**
   * Closes the connection of an account and opens it again. An account that could not be opened
   * before is retried.
   */
  reconnect(name: AccountName): Promise<void> {
    return this.#change(async () => {
      await this.#leave(toAccountKey(name));
      await this.#use();
    });
  }

  /** Checks whether another gateway has paused or resumed an account. */
  async followPauses(): Promise<void> {
    const paused = await this.#deps.store.accountPauses.list();
    if (!isDeepStrictEqual(paused, this.#paused)) await this.#change(() => this.#use());
  }

  /** Returns an account's current rules; undefined if the account is not in the settings. */
  planOf(name: AccountName): { readonly rules?: DecisionRules } | undefined {
    const found = this.#planned.find((one) => toPlannedKey(one) === toAccountKey(name));
    return found?.kind === 'ready' ? { rules: found.plan.rules } : found && {};
  }

  /**
   * Asks the gateway that is connected as this account to reconnect it. Returns null if this
   * gateway is connected as the account, or if no gateway is.
   */
  async reconnectElsewhere(name: AccountName): Promise<AccountSummary | null> {
    const state = this.#accountOf(name)?.status().state;
    if (state?.kind !== 'standby' || this.#rights === undefined) return null;
    const { proxyToOwner } = await import('./proxy-to-owner.ts');
    const body = JSON.stringify({ ...name, isPassedOn: true });
    const request = new Request('http://gateway/api/channels/reconnect', { method: 'POST', body });
    const token = this.#deps.token?.() ?? '';
    const answer = await proxyToOwner(request, { name, rights: this.#rights, token });
    if (answer.ok) return JSON.parse(await answer.text());
    throw createRefusalError('channel-refused', (await answer.text()).trim());
  }

  status(): AccountStatus[] {
    return [
      ...[...this.#open.values()].map(({ account }) => account.status()),
      ...this.#paused.flatMap(({ channel, account, by, since }) =>
        this.planOf({ channel, account }) === undefined
          ? []
          : [{ channel, account, state: { kind: 'paused', by, since } as const }],
      ),
      ...this.#broken.values(),
    ];
  }

  adapterOf(channel: string, account: string): ChannelAdapter | undefined {
    return this.#accountOf({ channel, account })?.connected();
  }

  mayPreview(...[route]: Parameters<ChannelAccount['mayPreview']>): boolean {
    return this.#accountOf(route)?.mayPreview(route) ?? false;
  }

  updateEveryMs(...[route]: Parameters<ChannelAccount['mayPreview']>): number {
    return this.#accountOf(route)?.updateEveryMs() ?? 0;
  }

  /**
   * Returns an account's web routes. Requests for an account that is opening or paused get the
   * response "try again". A "not found" response would make the page treat its message as refused
   * (D01).
   */
  webRoutes(channel: string, account: string): HttpCapability | undefined {
    const name = { channel, account };
    const isAway = this.#opening.has(toAccountKey(name)) || this.#isPaused(toAccountKey(name));
    return this.#accountOf(name)?.http() ?? (isAway ? LATER : undefined);
  }

  /** Stops all channels from receiving, and stops accepting changes. */
  async stopReceiving(): Promise<void> {
    this.#isStopping = true;
    this.#rights?.leave();
    const isStopped = new Set<ChannelAccount>();
    const stopAll = async (): Promise<void> => {
      const running = [...this.#open.values()].flatMap(({ account }) =>
        isStopped.has(account) ? [] : [account],
      );
      for (const account of running) isStopped.add(account);
      await Promise.all(running.map((account) => account.stopReceiving()));
    };
    await stopAll();
    // Accounts that are still being opened by a change must be closed as well.
    await this.#changes;
    await stopAll();
  }

  /** Ends deliveries and connections. Sends in progress may take up to `graceMs`. */
  async close(graceMs: number): Promise<void> {
    this.#isStopping = true;
    await this.#changes;
    await Promise.all([...this.#open.values()].map(({ account }) => account.close(graceMs)));
    this.#open.clear();
  }

  /** Releases all rights. Called when all writes that need a right are done. */
  async closeRights(): Promise<void> {
    await this.#rights?.close();
  }

  #accountOf(name: AccountName): ChannelAccount | undefined {
    return this.#open.get(toAccountKey(name))?.account;
  }

  #isPaused(key: string): boolean {
    return this.#paused.some((one) => toAccountKey(one) === key);
  }

  #change(work: () => Promise<void>): Promise<void> {
    const change = this.#changes.then(work);
    this.#changes = change.catch(() => undefined);
    return change;
  }

  async #use(): Promise<void> {
    if (this.#isStopping) return;
    this.#paused = await this.#deps.store.accountPauses.list();
    const wanted = this.#planned.filter((one) => !this.#isPaused(toPlannedKey(one)));
    const plans = new Map(
      wanted.flatMap((one) =>
        one.kind === 'ready' ? [[toAccountKey(getPlannedName(one.plan)), one.plan] as const] : [],
      ),
    );
    this.#broken.clear();
    for (const one of wanted) {
      if (one.kind === 'broken') {
        this.#broken.set(
          toAccountKey(one),
          createBrokenStatus(one.channel, one.account, one.reason),
        );
      }
    }
    const leaving = [...this.#open].filter(
      ([key, { plan }]) => !canReuseConnection(plan, plans.get(key)),
    );
    for (const key of plans.keys()) this.#opening.add(key);
    await Promise.all(leaving.map(([key]) => this.#leave(key)));
    for (const key of this.#opening) if (!plans.has(key)) this.#opening.delete(key);
    await Promise.all([...plans.values()].map((plan) => this.#openOrKeep(plan)));
  }

  async #leave(key: string): Promise<void> {
    const left = this.#open.get(key);
    if (left === undefined) return;
    this.#opening.add(key);
    this.#open.delete(key);
    await left.account.stopReceiving();
    await left.account.close(CHANGE_GRACE_MS);
  }

  async #openOrKeep(plan: AccountPlan): Promise<void> {
    const name = getPlannedName(plan);
    const key = toAccountKey(name);
    const kept = this.#open.get(key);
    try {
      if (kept === undefined) {
        const account = await openAccount(
          { ...this.#deps, ...(await this.#rightsFor(plan)) },
          plan,
        );
        this.#open.set(key, { plan, account });
      } else {
        kept.account.useRules(plan.rules);
        this.#open.set(key, { ...kept, plan });
      }
    } catch (error) {
      this.#deps.log.error({ ...name, error }, 'channel could not be opened');
      this.#broken.set(key, createBrokenStatus(name.channel, name.account, error));
    } finally {
      this.#opening.delete(key);
    }
  }

  /**
   * The rights are loaded only if other gateways exist and only one gateway at a time may serve the
   * account.
   */
  async #rightsFor({ definition }: AccountPlan): Promise<{ readonly rights?: AccountRights }> {
    if (this.#deps.sharedAs === undefined || definition.servedByAll === true) return {};
    // Accounts are opened concurrently, but this gateway must take only one seat, so the rights are
    // created only once.
    this.#openingRights ??= this.#rightsOf();
    this.#rights = await this.#openingRights;
    return { rights: this.#rights };
  }
}

const LATER: HttpCapability = {
  open: true,
  fetch: async () =>
    new Response('Parley is starting. Try again in a moment.\n', {
      status: 503,
      headers: { 'retry-after': '1' },
    }),
};

/**
 * Returns whether an account that was opened with one plan can use another plan without
 * reconnecting.
 */
function canReuseConnection(open: AccountPlan, other: AccountPlan | undefined): boolean {
  if (other === undefined || !isSameChannel(open.definition, other.definition)) return false;
  const [{ rules: _, definition: _a, ...before }, { rules: _b, definition: _c, ...now }] = [
    open,
    other,
  ];
  return isDeepStrictEqual(before, now);
}

/** A hosted channel's definition is created again whenever the settings are read. */
function isSameChannel(one: ChannelDefinition, other: ChannelDefinition): boolean {
  if (one === other) return true;
  return one.hosts !== undefined && one.hosts === other.hosts && one.id === other.id;
}

function getPlannedName({ definition, account }: AccountPlan): AccountName {
  return { channel: definition.id, account };
}

function toPlannedKey(one: PlannedAccount): string {
  return toAccountKey(one.kind === 'ready' ? getPlannedName(one.plan) : one);
}

function toAccountKey({ channel, account }: AccountName): string {
  return `${channel}/${account}`;
}

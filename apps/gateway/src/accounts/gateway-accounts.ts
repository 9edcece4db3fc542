import { isDeepStrictEqual } from 'node:util';
import type { ChannelAdapter, HttpFacet } from '@parley/channels';
import { brokenStatus, type ChannelAccount, openAccount } from '../channel-account.ts';
import type { AccountName, AccountRights } from './account-rights.ts';
import type { AccountDeps, AccountPlan, AccountStatus } from './connect-account.ts';

/** One account of the settings: ready to be opened, or broken with the reason for people. */
export type PlannedAccount =
  | { readonly kind: 'ready'; readonly plan: AccountPlan }
  | {
      readonly kind: 'broken';
      readonly channel: string;
      readonly account: string;
      readonly reason: string;
    };

/** Sends that are under way when the settings of their account change get this long. In ms. */
const CHANGE_GRACE_MS = 3_000;

/**
 * The accounts of a gateway, as the settings have them now (D12). An account that cannot be opened is reported by
 * its status and leaves the others alone.
 */
export class GatewayAccounts {
  readonly #deps: AccountDeps;
  readonly #rightsOf: () => Promise<AccountRights>;
  readonly #open = new Map<
    string,
    { readonly plan: AccountPlan; readonly account: ChannelAccount }
  >();
  /** Accounts that are about to be there. */
  readonly #opening = new Set<string>();
  readonly #broken = new Map<string, AccountStatus>();
  #rights: AccountRights | undefined;
  #changes: Promise<void> = Promise.resolve();
  #isStopping = false;

  /** `rightsOf` is asked when the first account is opened that one gateway at a time may serve. */
  constructor(deps: Omit<AccountDeps, 'rights'>, rightsOf: () => Promise<AccountRights>) {
    this.#deps = deps;
    this.#rightsOf = rightsOf;
  }

  /**
   * Opens what is new, closes what is gone and opens again what has other settings; an account that differs in
   * its rules alone stays connected. One change at a time.
   */
  use(planned: readonly PlannedAccount[]): Promise<void> {
    const change = this.#changes.then(() => this.#use(planned));
    this.#changes = change.catch(() => undefined);
    return change;
  }

  status(): AccountStatus[] {
    return [
      ...[...this.#open.values()].map(({ account }) => account.status()),
      ...this.#broken.values(),
    ];
  }

  adapterOf(channel: string, account: string): ChannelAdapter | undefined {
    return this.#accountOf({ channel, account })?.connected();
  }

  mayPreview(...[route]: Parameters<ChannelAccount['mayPreview']>): boolean {
    return this.#accountOf(route)?.mayPreview(route) ?? false;
  }

  /**
   * The web routes of an account. Requests that come while it is opened are answered with "try again": "not
   * found" would be final, and a message of the page would be given up as refused (D01).
   */
  webRoutes(channel: string, account: string): HttpFacet | undefined {
    const name = { channel, account };
    return this.#accountOf(name)?.http() ?? (this.#opening.has(keyOf(name)) ? LATER : undefined);
  }

  /** Takes no new messages from any channel, and no more changes. */
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
    // What a change was just opening.
    await this.#changes;
    await stopAll();
  }

  /** Ends deliveries and connections; what is under way gets `graceMs`. */
  async close(graceMs: number): Promise<void> {
    this.#isStopping = true;
    await this.#changes;
    await Promise.all([...this.#open.values()].map(({ account }) => account.close(graceMs)));
    this.#open.clear();
  }

  /** After everything that is stored under a right. */
  async closeRights(): Promise<void> {
    await this.#rights?.close();
  }

  #accountOf(name: AccountName): ChannelAccount | undefined {
    return this.#open.get(keyOf(name))?.account;
  }

  async #use(planned: readonly PlannedAccount[]): Promise<void> {
    if (this.#isStopping) return;
    const plans = new Map(
      planned.flatMap((one) =>
        one.kind === 'ready' ? [[keyOf(nameOf(one.plan)), one.plan] as const] : [],
      ),
    );
    this.#broken.clear();
    for (const one of planned) {
      if (one.kind === 'broken') {
        this.#broken.set(keyOf(one), brokenStatus(one.channel, one.account, one.reason));
      }
    }
    const leaving = [...this.#open].filter(([key, { plan }]) => !connectsAs(plan, plans.get(key)));
    for (const key of plans.keys()) this.#opening.add(key);
    await Promise.all(leaving.map(([key]) => this.#leave(key)));
    await Promise.all([...plans.values()].map((plan) => this.#openOrKeep(plan)));
  }

  async #leave(key: string): Promise<void> {
    const left = this.#open.get(key);
    this.#open.delete(key);
    await left?.account.stopReceiving();
    await left?.account.close(CHANGE_GRACE_MS);
  }

  async #openOrKeep(plan: AccountPlan): Promise<void> {
    const name = nameOf(plan);
    const key = keyOf(name);
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
      this.#broken.set(key, brokenStatus(name.channel, name.account, error));
    } finally {
      this.#opening.delete(key);
    }
  }

  /** Loaded only where there are other gateways, and accounts that one gateway at a time may serve. */
  async #rightsFor({ definition }: AccountPlan): Promise<{ readonly rights?: AccountRights }> {
    if (this.#deps.sharedAs === undefined || definition.servedByAll === true) return {};
    this.#rights ??= await this.#rightsOf();
    return { rights: this.#rights };
  }
}

const LATER: HttpFacet = {
  open: true,
  fetch: async () =>
    new Response('Parley is starting.\n', { status: 503, headers: { 'retry-after': '1' } }),
};

/** Whether an account that is open by one plan serves another one as it is. */
function connectsAs(open: AccountPlan, other: AccountPlan | undefined): boolean {
  if (other === undefined || open.definition !== other.definition) return false;
  const [{ rules: _, definition: _a, ...before }, { rules: _b, definition: _c, ...now }] = [
    open,
    other,
  ];
  return isDeepStrictEqual(before, now);
}

function nameOf({ definition, account }: AccountPlan): AccountName {
  return { channel: definition.id, account };
}

function keyOf({ channel, account }: AccountName): string {
  return `${channel}/${account}`;
}

import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ChannelAdapter,
  type ChannelState,
  type DecisionRules,
  findFatalDefect,
  type HttpCapability,
  RECONNECT,
} from '@parley/channels';
import { type AdapterValues, Defects, type Logger, type ReplyRoute, reasonOf } from '@parley/core';
import type { AccountDeps, AccountPlan, AccountStatus } from './accounts/account.ts';
import {
  type AccountRight,
  type AccountRights,
  createUnsharedRights,
} from './accounts/account-rights.ts';
import {
  type AccountSession,
  connectAccount,
  createAdapter,
  notifyOwnerOfFailure,
} from './accounts/connect-account.ts';

/**
 * One of this gateway's channel accounts, either connected or on standby while another gateway is
 * connected.
 */
export interface ChannelAccount {
  /** Returns the adapter while the account is connected. */
  connected(): ChannelAdapter | undefined;
  /** Returns whether the rate limits permit a preview in this chat at the moment. */
  mayPreview(route: ReplyRoute): boolean;
  /**
   * Returns the minimum interval (ms) between two updates of an answer in progress, from the
   * settings. Built-in front ends have no limit.
   */
  updateEveryMs(): number;
  /**
   * Returns the web routes of the account, or a proxy to the gateway that is connected as the
   * account.
   */
  http(): HttpCapability | undefined;
  status(): AccountStatus;
  /** Applies new rules to messages received from now on. The connection stays open. */
  useRules(rules: DecisionRules): void;
  /** Stops receiving. Resolves when all messages in progress are stored. */
  stopReceiving(): Promise<void>;
  /** Ends the deliveries. Sends in progress may take up to `graceMs`. */
  close(graceMs: number): Promise<void>;
}

const RETRY_DELAY_MS = 5_000;
/**
 * Restart delays in ms. A failed adapter is restarted after an increasing delay. After `PEACE_MS`
 * without a failure, the delay starts at the minimum again.
 */
const [FIRST_BACKOFF_MS, MAX_BACKOFF_MS, PEACE_MS] = [1_000, 60_000, 60_000];
/** How long (ms) a failed adapter may take to stop. */
const STOP_WITHIN_MS = 10_000;
/** How long (ms) sends in progress may take when another gateway takes over the account. */
const HAND_OVER_GRACE_MS = 3_000;

/**
 * Opens an account: connects it when no other gateway is connected, and again each time another
 * gateway has released it. Rejects if the adapter cannot be created. If a platform is down, opening
 * succeeds and the account's state reports the problem.
 */
export async function openAccount(deps: AccountDeps, plan: AccountPlan): Promise<ChannelAccount> {
  const account = new OpenAccount(deps, plan);
  await account.begin();
  return account;
}

class OpenAccount implements ChannelAccount {
  readonly #deps: AccountDeps;
  readonly #plan: AccountPlan;
  readonly #name: { readonly channel: string; readonly account: string };
  readonly #rights: AccountRights;
  readonly #stopping = new AbortController();
  readonly #settled = Promise.withResolvers<void>();
  #rules: DecisionRules;
  #state: ChannelState = { kind: 'starting' };
  #adapter: ChannelAdapter | undefined;
  #session: AccountSession | undefined;
  #right: AccountRight | null = null;
  #life: Promise<void> | undefined;
  /** Aborted with the error if the adapter fails where no caller is waiting for it. */
  #fault = new AbortController();
  /** Violations of the adapter contract by all adapters of this account. */
  readonly #defects: Defects;
  /** Sets the right that the newest adapter needs for writing. */
  #bind: (right: AccountRight) => void = () => {};

  constructor(deps: AccountDeps, plan: AccountPlan) {
    const { definition, account } = plan;
    this.#name = { channel: definition.id, account };
    this.#deps = { ...deps, log: deps.log.child(this.#name) };
    this.#plan = plan;
    this.#rules = plan.rules;
    this.#defects = new Defects({
      clock: deps.clock,
      onDefect: ({ what, reason }) => this.#onDefect(what, reason),
    });
    const alone = createUnsharedRights(deps.store.outbox);
    this.#rights = definition.servedByAll ? alone : (deps.rights ?? alone);
  }

  /** Whether other gateways may be connected as this account at the same time. */
  get #isServedByOthers(): boolean {
    return this.#deps.sharedAs !== undefined && this.#plan.definition.servedByAll === true;
  }

  /** Resolves when the account is connected or on standby. */
  async begin(): Promise<void> {
    this.#adapter = await this.#makeAdapter();
    this.#life = this.#live();
    try {
      await this.#settled.promise;
    } catch (error) {
      this.#stopping.abort();
      await this.#life;
      throw error;
    }
  }

  connected(): ChannelAdapter | undefined {
    return this.#session && this.#adapter;
  }

  mayPreview(route: ReplyRoute): boolean {
    return this.#session?.mayPreview(route) ?? false;
  }

  updateEveryMs(): number {
    if (this.#plan.definition.servedByAll) return 0;
    return (this.#rules.policy.answers.editSeconds ?? 0) * 1_000;
  }

  http(): HttpCapability | undefined {
    const own = this.#adapter?.http;
    if (this.#session !== undefined || own === undefined) return own;
    const { open, origins } = own;
    return {
      ...(open && { open }),
      ...(origins && { origins }),
      fetch: (request) => this.#proxyToOwner(request),
    };
  }

  status(): AccountStatus {
    const defects = this.#defects.summary();
    const { channel, account } = this.#name;
    const isCalled = this.#plan.definition.hosts !== undefined && this.#adapter?.http?.open;
    return {
      ...this.#name,
      state: this.#state,
      ...(isCalled && { webhook: `/channels/${channel}/${account}/` }),
      ...(defects && { defects }),
    };
  }

  useRules(rules: DecisionRules): void {
    this.#rules = rules;
  }

  async stopReceiving(): Promise<void> {
    this.#stopping.abort();
    await this.#life;
    await this.#session?.stopReceiving();
    this.#report({ kind: 'stopped' });
  }

  async close(graceMs: number): Promise<void> {
    await this.#session?.close(graceMs);
    if (this.#right !== null) await this.#release(this.#right);
  }

  async #proxyToOwner(request: Request): Promise<Response> {
    const { proxyToOwner } = await import('./accounts/proxy-to-owner.ts');
    const token = this.#deps.token?.() ?? '';
    return proxyToOwner(request, { name: this.#name, rights: this.#rights, token });
  }

  /** Acquires and serves the account repeatedly until it is stopped. Never rejects. */
  async #live(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const right = await this.#rights.obtain(
        this.#name,
        (holder) => this.#standBy(holder),
        signal,
      );
      this.#right = right;
      if (right === null) break;
      this.#deps.checkpoint('account-taken');
      try {
        await this.#serve(right);
      } catch (error) {
        this.#deps.log.error({ error }, 'channel could not be opened');
        await this.#adapter?.stop();
        this.#adapter = undefined;
        await this.#release(right);
        this.#settled.reject(error);
        await sleep(RETRY_DELAY_MS, undefined, { signal }).catch(() => undefined);
      }
    }
    this.#settled.resolve();
  }

  /**
   * Serves the account until the right is lost or recalled, or the account is stopped; then `close`
   * ends the session.
   */
  async #serve(right: AccountRight): Promise<void> {
    for (let faults = 0; ; faults += 1) {
      this.#adapter ??= await this.#makeAdapter();
      const fault = this.#fault.signal;
      const adapter = this.#adapter;
      this.#bind(right);
      const { whenUncertain } = this.#plan;
      const othersSend = this.#isServedByOthers;
      const place = { name: this.#name, right, fault, whenUncertain, othersSend };
      const deps = { ...this.#deps, ...place };
      const session = await connectAccount(deps, adapter);
      this.#session = session;
      this.#settled.resolve();
      const began = this.#deps.monotonic();
      await waitForAny(right.lost, right.recalled, this.#stopping.signal, fault);
      if (this.#stopping.signal.aborted) return;
      this.#session = undefined;
      this.#adapter = undefined;
      if (!fault.aborted) this.#report({ kind: 'starting' });
      const graceMs = fault.aborted || right.lost.aborted ? 0 : HAND_OVER_GRACE_MS;
      const ended = Promise.all([session.stopReceiving(), session.close(graceMs)]);
      // A defective adapter may never finish stopping.
      await Promise.race([ended, ...(fault.aborted ? [sleep(STOP_WITHIN_MS)] : [])]);
      const isGone = AbortSignal.any([right.lost, right.recalled]);
      if (!isGone.aborted && fault.reason instanceof DefectiveError) {
        await this.#stayStopped(fault.reason, isGone);
      } else if (!isGone.aborted) {
        if (this.#deps.monotonic() - began >= PEACE_MS) faults = 0;
        await this.#backOff(faults, fault.reason, isGone);
      }
      if (right.recalled.aborted && !right.lost.aborted) await this.#release(right);
      this.#adapter = await this.#makeAdapter();
      if (isGone.aborted || this.#stopping.signal.aborted) return;
    }
  }

  /**
   * The adapter's code is at fault, so an automatic retry would repeat the same effects in the
   * chats.
   */
  async #stayStopped({ message: reason }: DefectiveError, isGone: AbortSignal): Promise<void> {
    const { channel, account } = this.#name;
    const fix = `Repair, update or remove this channel, then ${RECONNECT}. Answers wait until then.`;
    const state = { kind: 'failed', reason, fix } as const;
    this.#report(state);
    void notifyOwnerOfFailure(this.#deps, `${channel}/${account}`, state);
    await waitForAny(isGone, this.#stopping.signal);
  }

  #onDefect(what: string, reason: string): void {
    const { log, meter } = this.#deps;
    const { channel } = this.#name;
    meter.count('parley_adapter_defects_total', { channel, function: what });
    log.error({ what, reason }, 'the adapter violated its contract');
    const stopping = findFatalDefect(this.#defects);
    if (stopping === undefined) return;
    const message = `the adapter was stopped: "${stopping}" returned invalid results several times in a row`;
    this.#fault.abort(new DefectiveError(message));
  }

  async #backOff(faults: number, error: unknown, isGone: AbortSignal): Promise<void> {
    const { clock, random } = this.#deps;
    const full = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** faults);
    const afterMs = Math.round(full * (0.5 + random() / 2));
    const nextAttemptAt = clock() + afterMs;
    this.#report({
      kind: 'retrying',
      reason: `the adapter failed: ${reasonOf(error)}`,
      nextAttemptAt,
    });
    const signal = AbortSignal.any([isGone, this.#stopping.signal]);
    await sleep(afterMs, undefined, { signal }).catch(() => undefined);
  }

  #makeAdapter(): Promise<ChannelAdapter> {
    const fault = new AbortController();
    this.#fault = fault;
    const { channel, account } = this.#name;
    const { store } = this.#deps;
    // An adapter writes with the right under which it was connected, even if this gateway has
    // acquired a newer right.
    let current = store.adapterValues(channel, account);
    let holdsAccount = (): boolean => false;
    this.#bind = (right) => {
      current = store.adapterValues(channel, account, right.lease);
      holdsAccount = right.isHeld;
    };
    const values: AdapterValues = {
      get: (kind, ids) => current.get(kind, ids),
      set: (changes) => current.set(changes),
      clear: () => current.clear(),
    };
    return createAdapter(
      {
        ...this.#deps,
        values,
        rules: () => this.#rules,
        holdsAccount: () => holdsAccount(),
        defects: this.#defects,
        isShared: this.#isServedByOthers,
        wakeFiles: () => this.#session?.wakeFiles(),
        // State reports from an adapter that failed and was replaced are ignored.
        report: (state) => {
          if (!fault.signal.aborted) this.#report(state);
        },
        onFault: (event, error) => {
          if (fault.signal.aborted || this.#stopping.signal.aborted) return;
          this.#deps.log.error({ event, error }, 'the adapter failed and is being restarted');
          fault.abort(error);
        },
      },
      this.#plan,
    );
  }

  async #release(right: AccountRight): Promise<void> {
    this.#right = null;
    await right.release().catch((error: unknown) => {
      this.#deps.log.warn(
        { reason: reasonOf(error) },
        'other gateways have to wait for this account',
      );
    });
  }

  #standBy(holder: string): void {
    if (this.#state.kind === 'standby' && this.#state.holder === holder) return;
    this.#report({ kind: 'standby', holder });
    this.#settled.resolve();
  }

  #report(state: ChannelState): void {
    // An adapter that stops in favor of another gateway is replaced by one on standby, so its stop
    // is not reported.
    const isEnding = this.#stopping.signal.aborted;
    if (state.kind === 'stopped' && (!isEnding || this.#state.kind === 'stopped')) return;
    this.#state = state;
    logState(this.#deps.log, this.status());
    this.#deps.onState?.(this.status());
  }
}

/** Thrown when too many consecutive results of an adapter were invalid. */
class DefectiveError extends Error {}

function waitForAny(...signals: AbortSignal[]): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const either = AbortSignal.any(signals);
  if (either.aborted) resolve();
  else either.addEventListener('abort', () => resolve(), { once: true });
  return promise;
}

function logState(log: Logger, { channel, account, state }: AccountStatus): void {
  const server = `${channel}/${account}`;
  if (state.kind === 'connected') log.info({ recovered: server }, 'channel connected');
  if (state.kind === 'failed')
    log.error({ reason: state.reason, fix: state.fix }, 'channel failed');
  else if (state.kind === 'retrying')
    log.warn({ outage: server, reason: state.reason }, 'channel retries');
  else log.info({ state: state.kind, ...('as' in state ? { as: state.as } : {}) }, 'channel');
}

/** Returns the status of an account that could not be opened. */
export function createBrokenStatus(
  channel: string,
  account: string,
  thrown: unknown,
): AccountStatus {
  const fix = 'Fix the settings of this channel. They are read again as soon as you save them.';
  return { channel, account, state: { kind: 'failed', reason: reasonOf(thrown), fix } };
}

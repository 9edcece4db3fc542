import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ChannelAdapter,
  type ChannelState,
  type DecisionRules,
  type HttpCapability,
  RECONNECT,
  stoppingDefect,
} from '@parley/channels';
import { type AdapterValues, Defects, type Logger, type ReplyRoute, reasonOf } from '@parley/core';
import { type AccountRight, type AccountRights, everyRight } from './accounts/account-rights.ts';
import {
  type AccountDeps,
  type AccountPlan,
  type AccountSession,
  type AccountStatus,
  connectAccount,
  makeAdapter,
  notifyOwnerOfFailure,
} from './accounts/connect-account.ts';

/** An account of this gateway: connected, or on standby while another gateway is. */
export interface ChannelAccount {
  /** Its adapter while it is connected. */
  connected(): ChannelAdapter | undefined;
  /** Whether its rates leave room for a preview in this chat. */
  mayPreview(route: ReplyRoute): boolean;
  /** Shortest time between two updates of a growing answer, by the settings; a front of Parley has none. In ms. */
  updateEveryMs(): number;
  /** Its web routes; those of another gateway, while that one is connected. */
  http(): HttpCapability | undefined;
  status(): AccountStatus;
  /** Other rules for what is received from now on; the connection stays. */
  useRules(rules: DecisionRules): void;
  /** Takes no new messages; what is being stored is stored first. */
  stopReceiving(): Promise<void>;
  /** Ends the deliveries; sends that are under way get `graceMs`. */
  close(graceMs: number): Promise<void>;
}

const RETRY_DELAY_MS = 5_000;
/** After a fault an adapter is started again, later and later; one that ran this long starts at the shortest delay. In ms. */
const [FIRST_BACKOFF_MS, MAX_BACKOFF_MS, PEACE_MS] = [1_000, 60_000, 60_000];
/** The deadline of a failed adapter to stop, in ms. */
const STOP_WITHIN_MS = 10_000;
/** Sends that are under way when another gateway is to serve the account get this long. */
const HAND_OVER_GRACE_MS = 3_000;

/**
 * Opens one account: connects it as soon as no other gateway is, and again whenever it has lost it to
 * one. Rejects when the adapter cannot be made; a platform that is down is reported through its state.
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
  /** Aborted, with the error, when the adapter fails where no caller waits. */
  #fault = new AbortController();
  /** Violations of the contract by all adapters of this account. */
  readonly #defects: Defects;
  /** Gives the newest adapter the right under which it writes. */
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
    const alone = everyRight(deps.store.outbox);
    this.#rights = definition.servedByAll ? alone : (deps.rights ?? alone);
  }

  /** Whether other gateways may be connected as this account at the same time. */
  get #isServedByOthers(): boolean {
    return this.#deps.sharedAs !== undefined && this.#plan.definition.servedByAll === true;
  }

  /** Resolves when it is connected, or on standby. */
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
    return { ...this.#name, state: this.#state, ...(defects && { defects }) };
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

  /** Holds the account for as long as may be, over and over, until it is stopped. Never rejects. */
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

  /** Until the right is lost or recalled, or the account is stopped; then the session is left to `close`. */
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
      await eitherOf(right.lost, right.recalled, this.#stopping.signal, fault);
      if (this.#stopping.signal.aborted) return;
      this.#session = undefined;
      this.#adapter = undefined;
      if (!fault.aborted) this.#report({ kind: 'starting' });
      const graceMs = fault.aborted || right.lost.aborted ? 0 : HAND_OVER_GRACE_MS;
      const ended = Promise.all([session.stopReceiving(), session.close(graceMs)]);
      // What is broken may never end by itself.
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

  /** The fault is in the adapter's code, so an automatic retry would repeat it in the chats. */
  async #stayStopped({ message: reason }: DefectiveError, isGone: AbortSignal): Promise<void> {
    const { channel, account } = this.#name;
    const fix = `Repair, update or remove this channel, then ${RECONNECT}. Answers wait until then.`;
    const state = { kind: 'failed', reason, fix } as const;
    this.#report(state);
    void notifyOwnerOfFailure(this.#deps, `${channel}/${account}`, state);
    await eitherOf(isGone, this.#stopping.signal);
  }

  #onDefect(what: string, reason: string): void {
    const { log, meter } = this.#deps;
    const { channel } = this.#name;
    meter.count('parley_adapter_defects_total', { channel, function: what });
    log.error({ what, reason }, 'the adapter broke its contract');
    const stopping = stoppingDefect(this.#defects);
    if (stopping === undefined) return;
    const message = `the adapter is stopped: what it returns from "${stopping}" was wrong several times in a row`;
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
    // An adapter writes under the right it was connected with, also when this gateway has a later one.
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
    return makeAdapter(
      {
        ...this.#deps,
        values,
        rules: () => this.#rules,
        holdsAccount: () => holdsAccount(),
        defects: this.#defects,
        isShared: this.#isServedByOthers,
        wakeFiles: () => this.#session?.wakeFiles(),
        // One that failed and was replaced has nothing more to say.
        report: (state) => {
          if (!fault.signal.aborted) this.#report(state);
        },
        onFault: (event, error) => {
          if (fault.signal.aborted || this.#stopping.signal.aborted) return;
          this.#deps.log.error({ event, error }, 'the adapter failed; it is restarted');
          fault.abort(error);
        },
      },
      this.#plan,
    );
  }

  async #release(right: AccountRight): Promise<void> {
    this.#right = null;
    await right.release().catch((error: unknown) => {
      this.#deps.log.warn({ reason: reasonOf(error) }, 'others must wait for this account');
    });
  }

  #standBy(holder: string): void {
    if (this.#state.kind === 'standby' && this.#state.holder === holder) return;
    this.#report({ kind: 'standby', holder });
    this.#settled.resolve();
  }

  #report(state: ChannelState): void {
    // An adapter that was stopped for another gateway makes room for one on standby.
    const isEnding = this.#stopping.signal.aborted;
    if (state.kind === 'stopped' && (!isEnding || this.#state.kind === 'stopped')) return;
    this.#state = state;
    logState(this.#deps.log, this.status());
    this.#deps.onState?.(this.status());
  }
}

/** An adapter whose results were wrong too often in a row. */
class DefectiveError extends Error {}

function eitherOf(...signals: AbortSignal[]): Promise<void> {
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

/** The status of an account that could not even be opened. */
export function brokenStatus(channel: string, account: string, thrown: unknown): AccountStatus {
  const fix = 'Fix the settings of this channel; they are read again as soon as they are saved.';
  return { channel, account, state: { kind: 'failed', reason: reasonOf(thrown), fix } };
}

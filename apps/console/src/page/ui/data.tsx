import type { InputOf, OperationName, OutputOf } from '@parley/gateway/operations';
import { batch, type Signal, useSignal } from '@preact/signals';
import { type ComponentChildren, createContext, type VNode } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { type ActionOutcome, askGateway, buildReadPath, type RequestFailure } from '../gateway.ts';
import { LiveChanges } from './live.ts';

/** The gateway's answer for a path, kept up to date while it is shown. */
export interface LoadedData<Value> {
  /** The last answer, which is kept during a reload, even if the reload fails. */
  readonly value: Value | undefined;
  readonly failure: RequestFailure | null;
  readonly isLoading: boolean;
}

interface RefreshScope {
  /** Counts the refreshes of a view; when it changes, all data in the view is reloaded. */
  readonly round: Signal<number>;
  /** Whether an action is running in the view; if so, its buttons are disabled. */
  readonly isBusy: Signal<boolean>;
  /** The frame around the view, which is refreshed together with it. */
  readonly frame: RefreshScope | null;
}

const RefreshScope = createContext<RefreshScope | null>(null);

/**
 * The refresh button and a view's actions refresh all its data, and only one action runs at a time.
 */
export function DataScope({ children }: { readonly children: ComponentChildren }): VNode {
  const scope = { round: useSignal(0), isBusy: useSignal(false), frame: useContext(RefreshScope) };
  return <RefreshScope.Provider value={useState(scope)[0]}>{children}</RefreshScope.Provider>;
}

/**
 * The delays (ms) between a change of the settings file and the refreshes of the view. The new
 * settings are usually applied, or reported as invalid, after the first delay, and at the latest
 * after the second.
 */
const TAKEN_OVER_MS = [1_500, 4_000];

/** The view around a component or, if there is none, the component itself. */
export function useDataScope() {
  const own = { round: useSignal(0), isBusy: useSignal(false), frame: null };
  const { round, isBusy, frame } = useContext(RefreshScope) ?? own;
  const refresh = (): void => {
    round.value += 1;
  };
  /**
   * Runs after a person's action. The frame is refreshed as well, immediately and again when
   * changed settings have been applied.
   */
  const refreshAll = (): void => {
    refresh();
    if (frame === null) return;
    frame.round.value += 1;
    for (const ms of TAKEN_OVER_MS) {
      setTimeout(() => {
        frame.round.value += 1;
      }, ms);
    }
  };
  return { refresh, refreshAll, round, isBusy };
}

const LOADING = { value: undefined, failure: null, isLoading: true } as const;
/** The delay before retrying after a temporary failure, in ms. */
const RETRY_MS = 5_000;

/** The interval for changes without an event, such as an expired time limit, in ms. */
const RESYNC_MS = 60_000;
/** The reload interval for people who receive no events, in ms. */
const WITHOUT_EVENTS_MS = 10_000;

/**
 * When data is reloaded automatically while the window is visible: after a number of ms or, with
 * `live`, after changes reported by the gateway.
 */
export type RefreshPolicy<Value> =
  | number
  | 'live'
  | ((value: Value | undefined) => number | undefined);

/** The delay before data is reloaded; undefined to wait for a refresh. */
function computeReloadDelay<Value>(
  again: RefreshPolicy<Value> | undefined,
  value: Value | undefined,
  hasEvents: boolean,
): number | undefined {
  if (again === 'live') return hasEvents ? RESYNC_MS : WITHOUT_EVENTS_MS;
  return typeof again === 'function' ? again(value) : again;
}

/**
 * Loads `path` when it changes, when the view is refreshed, when the window gets the focus, and as
 * specified by `again`. If `path` is null, nothing is loaded and the current data is kept. `Value`
 * is the type that the gateway declares for the path.
 */
export function useData<Value>(
  path: string | null,
  again?: RefreshPolicy<Value>,
): LoadedData<Value> {
  const { refresh, round } = useDataScope();
  const live = useContext(LiveChanges);
  const changes = again === 'live' ? live.value : null;
  // Keeps the answer to an earlier request from replacing the answer to a later one.
  const requests = useRef<RequestCounts>({ path, last: 0, shown: 0 });
  const state = useSignal<LoadedData<Value> & { readonly path: string | null }>({
    path,
    ...LOADING,
  });
  const isOwn = path === null || state.value.path === path;
  const { value, failure, isLoading }: LoadedData<Value> = isOwn ? state.value : LOADING;
  useEffect(() => {
    if (path === null) return;
    if (requests.current.path !== path) requests.current = { path, last: 0, shown: 0 };
    const of = requests.current;
    of.last += 1;
    const number = of.last;
    state.value = { path, value, failure, isLoading: true };
    askGateway<Value>(path).then((answer) => {
      if (requests.current !== of || number < of.shown) return;
      of.shown = number;
      const before = state.peek().value;
      const isHere = answer.kind === 'here';
      const news = isHere
        ? { value: answer.value, failure: null }
        : { value: before, failure: answer };
      state.value = { path, isLoading: number < of.last, ...news };
    });
  }, [path, round.value, changes]);
  useEffect(
    () => () => {
      requests.current = { path: null, last: 0, shown: 0 };
    },
    [],
  );
  useEffect(() => {
    if (isLoading || path === null) return;
    const ms = computeReloadDelay(again, value, live.peek() !== null);
    return runWhenDue(failure?.retryable ? RETRY_MS : ms, refresh);
  }, [state.value]);
  return { value, failure, isLoading };
}

/** The requests for one path: how many were sent, and which one's answer is shown. */
interface RequestCounts {
  readonly path: string | null;
  last: number;
  shown: number;
}

/**
 * Loads the result of a read operation in the same way as `useData`; if the input is null, nothing
 * is loaded.
 *
 * @example const audit = useOperation('audit/report', {}); return <Show data={audit}>{(report) =>
 * <Findings {...report} />}</Show>;
 */
export function useOperation<Name extends OperationName>(
  name: Name,
  input: InputOf<Name> | null,
  again?: RefreshPolicy<OutputOf<Name>>,
): LoadedData<OutputOf<Name>> {
  return useData(input && buildReadPath(name, input), again);
}

/**
 * Calls `task` once, after `ms`. If the window is hidden at that time, the call waits until it is
 * visible; it comes earlier if the window gets the focus.
 */
function runWhenDue(ms: number | undefined, task: () => void): () => void {
  const over = new AbortController();
  const once = { once: true, signal: over.signal };
  const due = (): void => {
    if (document.hidden) document.addEventListener('visibilitychange', task, once);
    else task();
  };
  const timer = ms === undefined ? undefined : setTimeout(due, ms);
  addEventListener('focus', task, once);
  return () => {
    clearTimeout(timer);
    over.abort();
  };
}

/** Runs a person's actions in a view; all its buttons are disabled while an action runs. */
export interface ActionRunner {
  readonly outcome: ActionOutcome | undefined;
  /** Runs an action, then refreshes the view. */
  run(work: () => Promise<ActionOutcome | undefined>): void;
}

/** Shown if an action threw, for example because an answer had an unknown form. */
const UNEXPECTED: ActionOutcome = {
  text: 'This failed unexpectedly. The gateway may have been updated, so reload the page.',
  isTrouble: true,
};

export function useActionRunner(): ActionRunner {
  const outcome = useSignal<ActionOutcome | undefined>(undefined);
  const { isBusy, refreshAll } = useDataScope();
  const run = async (work: () => Promise<ActionOutcome | undefined>): Promise<void> => {
    isBusy.value = true;
    let ended: ActionOutcome | undefined = UNEXPECTED;
    try {
      ended = await work();
    } finally {
      batch(() => {
        outcome.value = ended;
        isBusy.value = false;
        refreshAll();
      });
    }
  };
  return { outcome: outcome.value, run: (work) => void run(work) };
}

import type { InputOf, OperationName, OutputOf } from '@parley/gateway/operations';
import { batch, type Signal, useSignal } from '@preact/signals';
import { type ComponentChildren, createContext, type VNode } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { ask, type Failure, type Outcome, readPath } from '../gateway.ts';
import { LiveChanges } from './live.ts';

/** The gateway's answer for a path, kept up to date while it is shown. */
export interface Data<Value> {
  /** The last answer; it stays while it is loaded again, also in vain. */
  readonly value: Value | undefined;
  readonly failure: Failure | null;
  readonly isLoading: boolean;
}

interface Scope {
  /** Counts the refreshes of a view: all its data is loaded again when it changes. */
  readonly round: Signal<number>;
  /** Something is done in the view; its buttons wait. */
  readonly isBusy: Signal<boolean>;
  /** The frame around the view, which is refreshed with it. */
  readonly frame: Scope | null;
}

const Scope = createContext<Scope | null>(null);

/** One view: its refresh button and its actions refresh all data in it, one action at a time. */
export function DataScope({ children }: { readonly children: ComponentChildren }): VNode {
  const scope = { round: useSignal(0), isBusy: useSignal(false), frame: useContext(Scope) };
  return <Scope.Provider value={useState(scope)[0]}>{children}</Scope.Provider>;
}

/** A changed settings file is in use, or reported, after the first of these as a rule, and after the last at the latest. In ms. */
const TAKEN_OVER_MS = [1_500, 4_000];

/** The view around a component; outside of one, the component itself. */
export function useScope() {
  const own = { round: useSignal(0), isBusy: useSignal(false), frame: null };
  const { round, isBusy, frame } = useContext(Scope) ?? own;
  const refresh = (): void => {
    round.value += 1;
  };
  /** After what a person did: the frame shows some of it, too, and some of it only once settings are taken over. */
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
/** After a failure that may pass it is loaded again after so many ms. */
const RETRY_MS = 5_000;

/** What has no event, such as the end of a time that was set, is seen after so many ms. */
const RESYNC_MS = 60_000;
/** Without events it is loaded again after so many ms. */
const WITHOUT_EVENTS_MS = 10_000;

/**
 * The times at which data is loaded again by itself, while the window is visible: after so many ms, or `live`: after
 * changes that the gateway reports.
 */
export type Again<Value> = number | 'live' | ((value: Value | undefined) => number | undefined);

/** The pause before data is loaded again; undefined: it is not. */
function pauseOf<Value>(
  again: Again<Value> | undefined,
  value: Value | undefined,
  hasEvents: boolean,
): number | undefined {
  if (again === 'live') return hasEvents ? RESYNC_MS : WITHOUT_EVENTS_MS;
  return typeof again === 'function' ? again(value) : again;
}

/**
 * Loads `path` when it changes and when the view is refreshed, which it does itself when the window gets the
 * focus, and as `again` says. Null loads nothing and keeps what there is. `Value` is the type that the gateway declares
 * for the path.
 */
export function useData<Value>(path: string | null, again?: Again<Value>): Data<Value> {
  const { refresh, round } = useScope();
  const live = useContext(LiveChanges);
  const changes = again === 'live' ? live.value : null;
  // Answers of later requests are not replaced by those of earlier ones.
  const requests = useRef<Requests>({ path, last: 0, shown: 0 });
  const state = useSignal<Data<Value> & { readonly path: string | null }>({ path, ...LOADING });
  const isOwn = path === null || state.value.path === path;
  const { value, failure, isLoading }: Data<Value> = isOwn ? state.value : LOADING;
  useEffect(() => {
    if (path === null) return;
    if (requests.current.path !== path) requests.current = { path, last: 0, shown: 0 };
    const of = requests.current;
    of.last += 1;
    const number = of.last;
    state.value = { path, value, failure, isLoading: true };
    ask<Value>(path).then((answer) => {
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
    const ms = pauseOf(again, value, live.peek() !== null);
    return whenDue(failure?.retryable ? RETRY_MS : ms, refresh);
  }, [state.value]);
  return { value, failure, isLoading };
}

/** The requests of one path: how many were made, and whose answer is shown. */
interface Requests {
  readonly path: string | null;
  last: number;
  shown: number;
}

/**
 * Loads what an operation that reads answers, like `useData`; a null input loads nothing.
 *
 * @example
 * const audit = useOperation('audit/report', {});
 * return <Show data={audit}>{(report) => <Findings {...report} />}</Show>;
 */
export function useOperation<Name extends OperationName>(
  name: Name,
  input: InputOf<Name> | null,
  again?: Again<OutputOf<Name>>,
): Data<OutputOf<Name>> {
  return useData(input && readPath(name, input), again);
}

/** Calls once: after `ms`, but not while the window is hidden; or when it gets the focus. */
function whenDue(ms: number | undefined, task: () => void): () => void {
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

/** Pages that were added to the first one, and the cursor that it ended with. */
interface Added<Page> {
  readonly after: string | number | null | undefined;
  readonly pages: readonly Page[];
  readonly failure: Failure | null;
}

/** A list that the gateway answers page by page. */
export interface Pages<Item> extends Data<readonly Item[]> {
  /** Loads the page after those that are here; null: there is none. */
  readonly more: (() => void) | null;
}

/**
 * Loads the first page of an operation like `useOperation`, and more pages on request; when something new came, a
 * refresh leaves the first one alone.
 * `read` finds the items of a page, and what asks for the page after it (`before`).
 */
export function usePages<Name extends OperationName, Item>(
  name: Name,
  input: InputOf<Name>,
  read: (page: OutputOf<Name>) => {
    readonly items: readonly Item[];
    readonly next: string | number | null;
  },
): Pages<Item> {
  const first = useOperation(name, input);
  const after = first.value && read(first.value).next;
  const none: Added<OutputOf<Name>> = { after, pages: [], failure: null };
  const added = useSignal(none);
  const older = added.value.after === after ? added.value : none;
  const all = first.value === undefined ? [] : [first.value, ...older.pages].map(read);
  const next = all.at(-1)?.next ?? null;
  const more = async (): Promise<void> => {
    const answer = await ask<OutputOf<Name>>(readPath(name, { ...input, before: next }));
    const isHere = answer.kind === 'here';
    added.value = {
      after,
      pages: isHere ? [...older.pages, answer.value] : older.pages,
      failure: isHere ? null : answer,
    };
  };
  return {
    value: first.value && all.flatMap(({ items }) => items),
    failure: first.failure ?? older.failure,
    isLoading: first.isLoading,
    more: next === null ? null : () => void more(),
  };
}

/** An action of a person in a view; all its buttons wait meanwhile. */
export interface Work {
  /** The outcome of the last one, for `OutcomeNote`. */
  readonly outcome: Outcome | undefined;
  /** Does it, and refreshes the view. */
  run(work: () => Promise<Outcome | undefined>): void;
}

/** See `Work`. */
export function useWork(): Work {
  const outcome = useSignal<Outcome | undefined>(undefined);
  const { isBusy, refreshAll } = useScope();
  const run = async (work: () => Promise<Outcome | undefined>): Promise<void> => {
    isBusy.value = true;
    const ended = await work();
    batch(() => {
      outcome.value = ended;
      isBusy.value = false;
      refreshAll();
    });
  };
  return { outcome: outcome.value, run: (work) => void run(work) };
}

import { AsyncLocalStorage } from 'node:async_hooks';
import type { ChannelAdapter, ChannelContext } from './adapter.ts';

/**
 * Called with an error that an adapter threw where no caller awaits it; `event` names the event
 * that the adapter was handling.
 */
export type OnFault = (event: string, error: unknown) => void;

interface RunningCall {
  readonly onFault: OnFault;
  readonly event: string;
}

/** The adapter that the running code belongs to, even deep in a library or in a late timer. */
const running = new AsyncLocalStorage<RunningCall | undefined>();

/**
 * Creates an adapter whose errors are attributed to it. The adapter's calls run in a scope that
 * listeners, timers and promises inherit, including those of the platform library; calls back into
 * the core leave that scope.
 */
export function guardAdapter<Settings>(
  connect: (context: ChannelContext<Settings>) => ChannelAdapter,
  context: ChannelContext<Settings>,
  onFault: OnFault,
): ChannelAdapter {
  const outside = <T>(work: () => T): T => running.run(undefined, work);
  const inside = <T>(work: () => T, event: string): T => running.run({ onFault, event }, work);
  const core = {
    ...context,
    values: wrapCalls(context.values, outside),
    holdsAccount: () => outside(() => context.holdsAccount()),
    receive: (...args: Parameters<typeof context.receive>) =>
      outside(() => context.receive(...args)),
    revise: (...args: Parameters<typeof context.revise>) => outside(() => context.revise(...args)),
    reacted: (...args: Parameters<typeof context.reacted>) =>
      outside(() => context.reacted(...args)),
    message: (...args: Parameters<typeof context.message>) =>
      outside(() => context.message(...args)),
    answer: (chatId: string, messageId: string) =>
      outside(async () => (await context.answer?.(chatId, messageId)) ?? null),
    chats: context.chats && wrapCalls(context.chats, outside),
    report: (...args: Parameters<typeof context.report>) => outside(() => context.report(...args)),
    history: (...args: Parameters<typeof context.history>) =>
      outside(() => context.history(...args)),
  };
  return wrapCalls(
    inside(() => connect(core), 'connect'),
    inside,
  );
}

/**
 * Wraps an adapter's listener or timer callback: an error or rejection is reported under the
 * event's name and restarts only that adapter, not the process.
 */
export function guarded<Args extends readonly unknown[]>(
  event: string,
  listener: (...args: Args) => unknown,
): (...args: Args) => void {
  const onFault = running.getStore()?.onFault;
  if (onFault === undefined) return listener;
  return (...args) => {
    try {
      const result = running.run({ onFault, event }, () => listener(...args));
      if (result instanceof Promise) result.catch((error: unknown) => onFault(event, error));
    } catch (error) {
      onFault(event, error);
    }
  };
}

/**
 * Sets the name of the handled event until the end of this callback, for errors that the library
 * throws later.
 */
export function setHandledEvent(event: string): void {
  const current = running.getStore();
  if (current !== undefined) running.enterWith({ ...current, event });
}

/**
 * For the process's last-resort error handler: returns whether an uncaught error came from an
 * adapter, which is then being restarted. Node runs the handler in the scope of the code that
 * threw.
 */
export function reportAdapterError(error: unknown): boolean {
  const current = running.getStore();
  current?.onFault(current.event, error);
  return current !== undefined;
}

const CAPABILITIES: ReadonlySet<PropertyKey> = new Set([
  'typing',
  'streaming',
  'files',
  'messages',
  'http',
] satisfies (keyof ChannelAdapter)[]);

/**
 * Returns the same object, but calls of its methods, and of the methods of its capability objects,
 * go through `run`.
 */
function wrapCalls<T extends object>(target: T, run: <R>(work: () => R, event: string) => R): T {
  return new Proxy(target, {
    get(_, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value === 'function')
        return (...args: unknown[]) => run(() => Reflect.apply(value, target, args), String(name));
      const isCapability = CAPABILITIES.has(name) && typeof value === 'object' && value !== null;
      return isCapability ? wrapCalls(value, run) : value;
    },
  });
}

/**
 * Mismatches between an adapter and its declaration (F04); empty when there are none. The core
 * offers only declared capabilities.
 */
export function findUndeclaredCapabilities(adapter: ChannelAdapter): readonly string[] {
  const { capabilities, typing, streaming, messages } = adapter;
  const pairs: readonly [name: string, declared: boolean, there: boolean][] = [
    ['typing', capabilities.typing, typing !== undefined],
    ['streaming', capabilities.streaming !== 'none', streaming !== undefined],
    ['edit', capabilities.edit, messages?.edit !== undefined],
    ['delete', capabilities.delete, messages?.delete !== undefined],
    ['react', capabilities.react, messages?.react !== undefined],
  ];
  return pairs.flatMap(([name, declared, there]) => {
    if (declared === there) return [];
    return [
      declared ? `"${name}" is declared but missing` : `"${name}" is present but not declared`,
    ];
  });
}

/**
 * Removes null fields from JSON, for schemas of platform events: a field documented as optional may
 * also be null, and a message must not be lost because of that.
 */
export function withoutNulls(value: unknown): unknown {
  return hasNull(value) ? copyWithoutNulls(value) : value;
}

function hasNull(value: unknown): boolean {
  if (typeof value !== 'object') return false;
  return value === null || Object.values(value).some(hasNull);
}

function copyWithoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyWithoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).filter(([, field]) => field !== null);
  return Object.fromEntries(fields.map(([name, field]) => [name, copyWithoutNulls(field)]));
}

import { type Logger, ParleyError } from '@parley/core';
import type { Adapter } from 'chat';
import { findFactoryName } from './catalog.ts';
import { createChatLogger } from './logs.ts';
import { getQuietVariables, silenceGitHub } from './quiet.ts';
import type { ChatSdkSettings } from './settings.ts';
import { createSlackOptions } from './slack.ts';

/** Creates an adapter from its options. */
export type AdapterFactory = (options: Readonly<Record<string, unknown>>) => Adapter;

const FACTORY = /^create\w+Adapter$/;

/**
 * Loads an adapter's package and finds its factory.
 * @throws Rejects with the code ERR_MODULE_NOT_FOUND if the package is not installed.
 */
export async function loadFactory(use: string): Promise<AdapterFactory> {
  const library: Record<string, unknown> = await import(use);
  const found = Object.keys(library).filter((name) => FACTORY.test(name));
  const name = findFactoryName(use) ?? (found.length === 1 ? found[0] : 'default') ?? '';
  const factory = library[name];
  if (typeof factory === 'function') return factory as AdapterFactory;
  throw new ParleyError({
    code: 'chat-sdk-adapter',
    message: `The package ${use} is not a Chat SDK adapter: it exports no function that creates one. Name another package in "use".`,
    retryable: false,
  });
}

interface MakeDeps {
  readonly log: Logger;
  /** The secret with which the adapter accepts events from Slack's socket. */
  readonly secret: string;
}

/** Creates the adapter of an account without opening a connection. */
export function makeAdapter(
  factory: AdapterFactory,
  { use, options, env }: ChatSdkSettings,
  deps: MakeDeps,
): Adapter {
  const logger = createChatLogger(deps.log);
  const own = use === '@chat-adapter/slack' ? createSlackOptions(options, deps) : options;
  const variables = { ...getQuietVariables(use), ...env };
  const adapter = withVariables(variables, () => factory({ ...own, logger }));
  silenceGitHub(adapter);
  return adapter;
}

/**
 * Some adapters read their secrets only from the environment. The factory runs synchronously, so no
 * other code sees these variables.
 */
function withVariables<T>(variables: Readonly<Record<string, string>>, work: () => T): T {
  const before = Object.keys(variables).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, variables);
  try {
    return work();
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}

import { type Logger, ParleyError, reasonOf } from '@parley/core';
import type { Adapter, Logger as ChatLogger } from 'chat';
import { findFactoryName } from './catalog.ts';
import type { ChatSdkSettings } from './settings.ts';
import { createSlackOptions } from './slack.ts';

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
    message: `The package ${use} is not a Chat SDK adapter: it does not export a function that creates one. Name another package in "use".`,
    retryable: false,
  });
}

interface AdapterFactoryDeps {
  readonly log: Logger;
  /** The secret with which the adapter accepts events from Slack's socket. */
  readonly secret: string;
}

/** Creates the adapter of an account without opening a connection. */
export function createAdapter(
  factory: AdapterFactory,
  { use, options, env }: ChatSdkSettings,
  deps: AdapterFactoryDeps,
): Adapter {
  const logger = createChatLogger(deps.log);
  const own = use === '@chat-adapter/slack' ? createSlackOptions(options, deps) : options;
  const variables = { ...QUIET_VARIABLES[use], ...env };
  const adapter = withEnvVariables(variables, () => factory({ ...own, logger }));
  silenceGitHubClient(adapter);
  return adapter;
}

/** Libraries that log to the console skip the loggers that this variable excludes by name. */
const QUIET_VARIABLES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '@chat-adapter/teams': { LOG: '-*' },
};

/**
 * Some adapters read their secrets only from the environment. The factory runs synchronously, so no
 * other code sees these variables.
 */
function withEnvVariables<T>(variables: Readonly<Record<string, string>>, work: () => T): T {
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

interface Octokit {
  readonly log: Record<'debug' | 'info' | 'warn' | 'error', () => void>;
}

/**
 * Keeps GitHub's client from writing every failed request to the console, because the adapter
 * already reports the failure.
 */
function silenceGitHubClient(adapter: Adapter): void {
  if (adapter.name !== 'github') return;
  const github = adapter as unknown as {
    readonly defaultOctokit?: Octokit | null;
    getOctokit(...parameters: unknown[]): Octokit;
  };
  const quiet = (client: Octokit): Octokit => {
    for (const level of ['debug', 'info', 'warn', 'error'] as const) client.log[level] = () => {};
    return client;
  };
  if (github.defaultOctokit != null) quiet(github.defaultOctokit);
  const { getOctokit } = github;
  github.getOctokit = (...parameters) => quiet(getOctokit.apply(adapter, parameters));
}

/**
 * Forwards an adapter's log to Parley's log. An adapter's errors and warnings are often expected (a
 * missing permission, a repeated event), and the host reports failed calls itself.
 */
export function createChatLogger(log: Logger, prefix = ''): ChatLogger {
  const line =
    (level: 'debug' | 'info' | 'warn') =>
    (message: string, ...facts: unknown[]): void =>
      log[level](extractErrorFields(facts), prefix === '' ? message : `${prefix}: ${message}`);
  return {
    child: (name) => createChatLogger(log, prefix === '' ? name : `${prefix}: ${name}`),
    debug: line('debug'),
    info: line('debug'),
    warn: line('info'),
    error: line('warn'),
  };
}

/** Only error objects are logged, because other values may contain message text. */
function extractErrorFields(facts: readonly unknown[]): object {
  const [first] = facts;
  const error = first instanceof Error ? first : (first as { error?: unknown } | undefined)?.error;
  return error === undefined ? {} : { reason: reasonOf(error) };
}

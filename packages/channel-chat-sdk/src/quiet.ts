import type { Adapter } from 'chat';

/** Libraries that log to the console skip the loggers whose names this variable excludes. */
const VARIABLES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '@chat-adapter/teams': { LOG: '-*' },
};

/** The environment variables that keep an adapter's library from writing to the console. */
export function getQuietVariables(use: string): Readonly<Record<string, string>> {
  return VARIABLES[use] ?? {};
}

interface Octokit {
  readonly log: Record<'debug' | 'info' | 'warn' | 'error', () => void>;
}

/**
 * Keeps GitHub's client from writing each failed request to the console, because the adapter
 * already reports it.
 */
export function silenceGitHub(adapter: Adapter): void {
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

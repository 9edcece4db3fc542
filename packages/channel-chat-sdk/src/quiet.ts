import type { Adapter } from 'chat';

/** Libraries that write to the console log nothing there when their names are excluded. */
const VARIABLES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '@chat-adapter/teams': { LOG: '-*' },
};

/** The environment variables that keep the library of an adapter from writing to the console. */
export function quietVariables(use: string): Readonly<Record<string, string>> {
  return VARIABLES[use] ?? {};
}

interface Octokit {
  readonly log: Record<'debug' | 'info' | 'warn' | 'error', () => void>;
}

/** Keeps GitHub's client from writing each failed request to the console; the adapter reports it. */
export function quietGitHub(adapter: Adapter): void {
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

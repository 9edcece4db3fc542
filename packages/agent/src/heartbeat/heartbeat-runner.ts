import { createRequire } from 'node:module';
import type { NewsChecker } from '@parley/core';
import type { RunTurn } from '@parley/queue';
import { HEARTBEAT_LANE, isLane } from '@parley/store';
import type { AddressRules } from '@parley/tools/web';
import type { BuiltInToolDeps } from '../tools/built-in-tools.ts';
import { createWorkspaceSandbox } from '../tools/exec.ts';
import type { TurnServices } from '../turn/means.ts';

/**
 * Runs heartbeat turns (H05) and passes all others to `runTurn`. A heartbeat has no history, few
 * tools and no live events; only alerts are delivered (H03, H04). The code for heartbeats is loaded
 * on the first run.
 */
export function createHeartbeatRunner(deps: TurnServices, runTurn: RunTurn): RunTurn {
  return async (turn, lease, signal) => {
    if (!isLane(turn.conversationId, HEARTBEAT_LANE)) return runTurn(turn, lease, signal);
    const lead = turn.messages.at(-1);
    const run = lead && (await deps.store.heartbeats.of(lead.message.messageId));
    if (run == null) throw new Error(`Lane ${turn.conversationId} has no heartbeat run.`);
    const { runHeartbeat } = await import('./heartbeat-turn.ts');
    await runHeartbeat(deps, run, turn, lease, signal);
  };
}

interface NewsCheckerOptions extends Pick<BuiltInToolDeps, 'exec' | 'web'> {
  /**
   * A test-only replacement for page requests. If it is absent, only public internet addresses are
   * requested.
   */
  readonly rules?: AddressRules;
}

/** The time limit for a command, in ms: a check must be quick. */
const MAX_MS = 30_000;
const NEVER = new AbortController().signal;
const require = createRequire(import.meta.url);

/**
 * Fetches pages as `web_fetch` does, from the public internet only. Runs commands as `exec` does,
 * in the sandbox and only if commands are enabled. The code for pages and for commands is loaded on
 * first use.
 */
export function createNewsChecker({ exec, web, rules }: NewsCheckerOptions): NewsChecker {
  return {
    whyNot({ kind }) {
      if (kind === 'command') {
        return exec === undefined ? 'commands are switched off (exec.enabled)' : null;
      }
      return web?.fetch.enabled === true ? null : 'pages are switched off (web.fetch.enabled)';
    },
    async look(check) {
      if (check.kind === 'command') return runCommand(check.command, exec);
      if (web === undefined) throw new Error('Pages are switched off.');
      const { createPageReader }: typeof import('@parley/tools/web') = require('@parley/tools/web');
      const { ports, seconds, maxMb } = web.fetch;
      const limits = { ports, timeoutMs: seconds * 1_000, maxBytes: maxMb * 1_000_000 };
      const read = createPageReader({ limits, ...(rules !== undefined && { rules }) });
      const { title, text } = await read(check.url, NEVER);
      return `${title}\n${text}`;
    },
  };
}

/**
 * Returns a command's output, so that a change can be detected. A failed command throws an error
 * and does not count as a change.
 */
async function runCommand(command: string, exec: NewsCheckerOptions['exec']): Promise<string> {
  if (exec === undefined) throw new Error('Commands are switched off.');
  const timeoutMs = Math.min(exec.maxSeconds * 1_000, MAX_MS);
  const sandbox = createWorkspaceSandbox(exec);
  const { output, exitCode, ended } = await sandbox.run(command, { signal: NEVER, timeoutMs });
  if (exitCode === 0) return output;
  const how = ended === null ? `with exit code ${exitCode}` : `by Parley: ${ended}`;
  throw new Error(`The command ended ${how}. ${output.trim().slice(-200)}`);
}

import { createRequire } from 'node:module';
import type { NewsChecker } from '@parley/core';
import type { RunTurn } from '@parley/queue';
import { HEARTBEAT_LANE, isLane } from '@parley/store';
import type { AddressRules } from '@parley/tools/web';
import type { BuiltInToolDeps } from '../tools/built-in-tools.ts';
import { workspaceSandbox } from '../tools/exec.ts';
import type { TurnServices } from '../turn/means.ts';

/**
 * Runs the turns of heartbeats (H05) and leaves all others to `runTurn`: without history, with few tools
 * and without live events; only alerts are delivered (H03, H04). Loads its code with the first run.
 */
export function withHeartbeats(deps: TurnServices, runTurn: RunTurn): RunTurn {
  return async (turn, lease, signal) => {
    if (!isLane(turn.conversationId, HEARTBEAT_LANE)) return runTurn(turn, lease, signal);
    const lead = turn.messages.at(-1);
    const run = lead && (await deps.store.heartbeats.of(lead.message.messageId));
    if (run == null) throw new Error(`The lane ${turn.conversationId} has no heartbeat.`);
    const { runHeartbeat } = await import('./heartbeat-turn.ts');
    await runHeartbeat(deps, run, turn, lease, signal);
  };
}

interface NewsCheckerOptions extends Pick<BuiltInToolDeps, 'exec' | 'web'> {
  /** For tests alone: without it nothing but the public internet is asked. */
  readonly rules?: AddressRules;
}

/** A check must be cheap: no command may take longer. */
const MAX_MS = 30_000;
const NEVER = new AbortController().signal;
const require = createRequire(import.meta.url);

/**
 * Looks at pages as `web_fetch` does, at the public internet alone, and runs commands as `exec` does, in
 * the sandbox and only where commands are switched on. Loads either when it is needed.
 */
export function newsChecker({ exec, web, rules }: NewsCheckerOptions): NewsChecker {
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

/** Its output counts as news, and so does nothing else; it changes nothing on the way. */
async function runCommand(command: string, exec: NewsCheckerOptions['exec']): Promise<string> {
  if (exec === undefined) throw new Error('Commands are switched off.');
  const timeoutMs = Math.min(exec.maxSeconds * 1_000, MAX_MS);
  const sandbox = workspaceSandbox(exec);
  const { output, exitCode, ended } = await sandbox.run(command, { signal: NEVER, timeoutMs });
  if (exitCode === 0) return output;
  const how = ended === null ? `with exit code ${exitCode}` : `by Parley: ${ended}`;
  throw new Error(`The command ended ${how}. ${output.trim().slice(-200)}`);
}

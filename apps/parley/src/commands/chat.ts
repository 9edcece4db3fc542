import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import type { DataFolder } from '../data-folder.ts';
import { findGateway } from '../find-gateway.ts';
import { askOnce } from '../terminal/ask-once.ts';
import { converse } from '../terminal/converse.ts';
import { createGatewayClient } from '../terminal/gateway-client.ts';
import { visible } from '../terminal/visible-text.ts';

/**
 * `parley chat`: talks to the agent here, through the running gateway or one that lives as long as the
 * chat. Piped input is one message, whose answer is all that is printed. Resolves with the exit code.
 */
export async function chat(folder: DataFolder, env: NodeJS.ProcessEnv): Promise<number> {
  const { stdin, stdout } = process;
  const isTalk = stdin.isTTY && stdout.isTTY;
  const message = isTalk ? '' : await readAll(stdin);
  const own = (await findGateway(folder, env)) ? null : await startOwn(folder, env);
  const ended = new AbortController();
  const client = createGatewayClient(() => findGateway(folder, env), ended.signal);
  const interrupted = onInterrupt(ended);
  try {
    if (isTalk) {
      const colour = !env.NO_COLOR && env.TERM !== 'dumb';
      await converse({ client, input: stdin, output: stdout, colour, ended });
    } else {
      const answer = await askOnce(client, ended, message);
      if (answer !== '') stdout.write(`${visible(answer)}\n`);
    }
    return interrupted.yes ? 130 : 0;
  } catch (error) {
    if (interrupted.yes) return 130;
    throw error;
  } finally {
    ended.abort();
    await own?.close();
  }
}

/** The gateway's log goes to a file: the screen belongs to the conversation. */
async function startOwn(folder: DataFolder, env: NodeJS.ProcessEnv) {
  // A gateway is heavy; where one runs already, the chat does not load a second.
  const { startParley } = await import('../start-parley.ts');
  const log = join(folder.path, 'parley.log');
  const logTo = { write: (line: string) => appendFileSync(log, line, { mode: 0o600 }) };
  return startParley({ folder, env, clock: Date.now, logTo, pass: () => {} });
}

/** A signal ends the chat in order, so that a gateway of its own is closed. In a talk Ctrl-C is a key. */
function onInterrupt(ended: AbortController): { yes: boolean } {
  const interrupted = { yes: false };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      interrupted.yes = true;
      ended.abort();
    });
  }
  return interrupted;
}

import { readFileSync } from 'node:fs';
import { decodeText, reasonOf } from '@parley/core';
import type { HookView } from '@parley/proactive';
import { withApi } from '../api.ts';
import { type Cli, notRunning } from '../cli.ts';
import { CliError } from '../data-folder.ts';
import { askGateway, findGateway, isRefused } from '../running-gateway.ts';
import { chosenAgent, readSettings } from '../settings.ts';
import { minuteText, visible } from '../terminal/text.ts';

/** `parley hooks` (H09): each hook of the settings, where it reports, and its last event. */
export function listHooks(cli: Cli): Promise<number> {
  return withApi(cli, '/api/hooks', async ({ ask }) => {
    const { hooks } = await ask<{ readonly hooks: readonly HookView[] }>('');
    if (hooks.length === 0) cli.print('The settings have no hooks.');
    const { name: agent } = chosenAgent(readSettings(cli.folder, cli.env), cli.agent);
    const its = cli.agent === undefined ? hooks : hooks.filter((hook) => hook.agent === agent);
    for (const hook of its) cli.print(visible(lineOf(hook)));
    return 0;
  });
}

function lineOf({ name, agent, action, task, target, events: [last] }: HookView): string {
  const work =
    action === 'job' ? `job for ${target}` : `heartbeat, ${task ?? 'the most overdue task'}`;
  const what = last === undefined ? 'no event yet' : `${minuteText(last.at)}, ${last.outcome}`;
  return `${name}${agent === undefined ? '' : ` (${agent})`}: ${work}; ${what}`;
}

const SAMPLE = '{"test": true, "text": "A test event, sent by parley hooks test."}';

/** `parley hooks test` (H09): 0 it is taken, 1 not, and why, 3 nothing runs. */
export async function testHook(cli: Cli, name: string, file?: string): Promise<number> {
  const body = file === undefined ? SAMPLE : textOf(file);
  const gateway = await findGateway(cli.folder, cli.env);
  if (gateway === null) return notRunning(cli);
  try {
    const asked = { body: { name, body } };
    const { id } = await askGateway<{ readonly id: string }>(gateway, '/api/hooks/test', asked);
    cli.print(`Taken as ${id}; "parley hooks" says what became of it.`);
    return 0;
  } catch (error) {
    if (!isRefused(error)) throw error;
    cli.print(error.message);
    return 1;
  }
}

function textOf(file: string): string {
  try {
    return decodeText(readFileSync(file)).text;
  } catch (error) {
    throw new CliError('usage', `${file} cannot be read (${reasonOf(error)}). Check the path.`);
  }
}

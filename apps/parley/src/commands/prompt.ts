import { type Logger, silentLogger } from '@parley/contracts';
import { CHANNEL_DEFINITIONS } from '@parley/gateway';
import { comparePrompts } from '@parley/prompt';
import type { PromptRepository, StoredPrompt } from '@parley/store';
import type { DataFolder } from '../data-folder.ts';
import { endSoon } from '../end-soon.ts';
import { comparisonText } from '../inspector/comparison-text.ts';
import { hypotheticalTurn } from '../inspector/hypothetical-turn.ts';
import { previewPrompt } from '../inspector/preview-prompt.ts';
import {
  newestPrompts,
  promptOfMessage,
  promptOfTurn,
  withPrompts,
} from '../inspector/prompt-source.ts';
import { besidesText, listText, promptText, turnLine } from '../inspector/prompt-text.ts';
import { soulInUse } from '../inspector/soul-in-use.ts';
import type { Surroundings } from '../open-skills.ts';
import { plugIn } from '../plug-in.ts';
import { type LoadedSettings, readSettings } from '../read-settings.ts';
import { type PromptFlags, type PromptRequest, promptRequest } from './prompt-request.ts';

interface Shown {
  readonly full: boolean;
  readonly json: boolean;
}

/**
 * `parley prompt`: what the model was told in a past turn, or would be told in one that might be (P17).
 * It works on the database and the workspace, so it does not matter whether a gateway runs.
 */
export async function promptCommand(
  folder: DataFolder,
  env: NodeJS.ProcessEnv,
  flags: PromptFlags,
  print: (text: string) => void,
): Promise<number> {
  const request = promptRequest(flags);
  const loaded = readSettings(folder, env);
  const shown = { full: flags.full === true, json: flags.json === true };
  if (request.kind === 'preview') {
    print(await previewText(request, loaded, { ...shown, folder, env }));
    if (loaded.settings.plugins.length > 0) endSoon();
    return 0;
  }
  const places = { folder, storeUrl: loaded.settings.store.url };
  print(await withPrompts(places, (prompts) => recordedText(request, prompts, folder, shown)));
  return 0;
}

async function previewText(
  { message, layout, mode, heartbeat }: Extract<PromptRequest, { kind: 'preview' }>,
  first: LoadedSettings,
  { full, json, folder, env }: Shown & Surroundings,
): Promise<string> {
  const faults: string[] = [];
  const deps = { clock: Date.now, log: faultsInto(faults), folder, env };
  const plugged = await plugIn(first, { ...deps, channels: CHANNEL_DEFINITIONS });
  const { settings } = plugged.loaded;
  const channels = plugged.definitions.map(({ id }) => id);
  const turn = hypotheticalTurn(message, channels, Date.now());
  const agent = layout === undefined ? settings.agent : { ...settings.agent, layout };
  const made = await previewPrompt(
    { ...settings, agent },
    turn,
    { mode, heartbeat },
    { ...deps, plugins: plugged.agent, soul: await soulInUse(folder, settings) },
  );
  const { prompt, fromTemplates } = made;
  if (json) return jsonOf({ ...prompt, fromTemplates });
  const { workspace } = settings.agent;
  const missing = `There is no workspace at ${workspace} yet: this is what a new one starts with.\n`;
  const place = [message.channel, message.chatType, mode, heartbeat ? 'heartbeat' : undefined];
  return [
    ...(fromTemplates ? [missing] : []),
    `a turn that might be · ${place.filter((word) => word !== undefined).join(' ')}`,
    promptText(prompt, { full }),
    ...(faults.length === 0 ? [] : ['\nwhile it was made', ...faults]),
  ].join('\n');
}

async function recordedText(
  request: Exclude<PromptRequest, { kind: 'preview' }>,
  prompts: PromptRepository,
  folder: DataFolder,
  shown: Shown,
): Promise<string> {
  switch (request.kind) {
    case 'list': {
      const { chat, limit } = request;
      const found = await prompts.list({ chat, limit });
      if (shown.json) return jsonOf(found);
      if (found.length === 0) await newestPrompts(prompts, 1, chat, folder);
      return listText(found);
    }
    case 'turn':
      return storedText([await promptOfTurn(prompts, request.turnId, folder)], shown);
    case 'message': {
      const { messageId, chat } = request;
      return storedText([await promptOfMessage(prompts, messageId, chat, folder)], shown);
    }
    case 'last':
      return storedText(await newestPrompts(prompts, 1, request.chat, folder), shown);
    case 'compare': {
      const { turns, chat } = request;
      if (turns === null) {
        const newest = await newestPrompts(prompts, 2, chat, folder);
        return comparedText(newest.toReversed(), shown);
      }
      return comparedText(
        await Promise.all(turns.map((turnId) => promptOfTurn(prompts, turnId, folder))),
        shown,
      );
    }
  }
}

function storedText(prompts: readonly StoredPrompt[], { full, json }: Shown): string {
  return prompts
    .map((prompt) =>
      json
        ? jsonOf(prompt)
        : `${turnLine(prompt)}\n${promptText(prompt, { full })}\n\n${besidesText(prompt)}`,
    )
    .join('\n');
}

function comparedText([before, after]: readonly StoredPrompt[], { full, json }: Shown): string {
  if (before === undefined || after === undefined) return '';
  const comparison = comparePrompts(before, after);
  if (json) return jsonOf(comparison);
  return `${turnLine(before)}\n${turnLine(after)}\n${comparisonText(comparison, { full })}`;
}

function jsonOf(value: object): string {
  return JSON.stringify(value, null, 2);
}

/** What would be in the log of a real turn. */
function faultsInto(faults: string[]): Logger {
  const note = (facts: object, message: string): void => {
    faults.push(`  ${message} ${JSON.stringify(facts)}`);
  };
  const log: Logger = { ...silentLogger, warn: note, error: note, child: () => log };
  return log;
}

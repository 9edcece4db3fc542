import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { arch, homedir, type as osType, tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type ContextSource,
  createBuiltInLayers,
  createLayerRegistry,
  createPromptAssembler,
  getLayout,
  type PromptFeatures,
  readChannelFormats,
} from '@parley/prompt';
import { createExampleWorkspace, OWNER_FEATURES, SCENES } from '@parley/prompt/testing';
import type { HeartbeatRunRequest } from '@parley/store';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createAgent, openTurnScene, type TurnScene } from '../testing/turn-scene.ts';
import { defineTool } from '../tools/tool.ts';

const ROOT = join(import.meta.dirname, '../../../..');
const GOLDEN = join(ROOT, 'packages/prompt/src/golden');
const layers = createLayerRegistry(
  createBuiltInLayers(await readChannelFormats(join(ROOT, 'config/channel-formats'))),
);

let scene: TurnScene;
let base: string;
afterEach(async () => {
  await scene.close();
  rmSync(base, { recursive: true, force: true });
});

const LANE = 'beat:main';
const { skills, tools: _tools, target, messages, heartbeat } = SCENES.heartbeat?.context ?? {};
const [asked] = messages ?? [];
if (asked === undefined || target === undefined || heartbeat === undefined) {
  throw new Error('the golden scene of a heartbeat has a message, a task and a chat');
}

/** The tools' input schemas in the golden scene. */
const READ_INPUT = z.object({ path: z.string(), offset: z.int().optional() });

/** The owner's tools; a heartbeat omits those that it cannot use. */
const tools = (OWNER_FEATURES.tools ?? []).map(({ name, summary, hint, tier }) =>
  defineTool({
    ...{ name, summary, tier },
    ...(hint !== undefined && { hint }),
    effect: 'read',
    audience: 'everyone',
    approval: name === 'exec' ? 'ask' : 'never',
    input: name === 'read' ? READ_INPUT : z.object({}),
    run: async () => ({ text: 'done' }),
  }),
);

const source = (id: string, features: PromptFeatures): ContextSource => ({
  id,
  gather: async () => features,
});

const { userProfile, projectProfile, memories, knowledge, yesterday, todos, ...others } =
  OWNER_FEATURES;
const {
  attachments: _came,
  mentioned: _named,
  silentToken: _silent,
  tools: _notes,
  approvals: _asks,
  ...present
} = others;

/** The context of the owner's own chat, from the sources that provide it. */
const sources: readonly ContextSource[] = [
  { id: 'skills', gather: async () => (skills === undefined ? {} : { skills }) },
  source('memory', {
    ...(userProfile && { userProfile }),
    ...(projectProfile && { projectProfile }),
    ...(memories && { memories }),
    ...(knowledge && { knowledge }),
  }),
  source('yesterday', yesterday ? { yesterday } : {}),
  source('todos', todos ? { todos } : {}),
  source('present', present),
];

async function open(layout: string): Promise<void> {
  base = mkdtempSync(join(tmpdir(), 'parley-golden-'));
  const workspace = await createExampleWorkspace('lived-in', base);
  const agent = createAgent(join(homedir(), '.parley/workspace'), 'Europe/Berlin');
  const prompt = createPromptAssembler({ layers, layout: getLayout(layout) });
  scene = await openTurnScene(
    {},
    { ...{ prompt, tools, sources, workspace, agent }, owners: ['telegram:42'] },
  );
}

const { language = '', ...told } = heartbeat;
const said = { ...told, language };

const order = (): HeartbeatRunRequest => ({
  id: asked.messageId,
  agent: 'main',
  task: heartbeat.task,
  target: 'telegram:default:42',
  message: {
    conversationId: LANE,
    route: { channel: 'telegram', account: 'default', chatId: '42', chatType: 'direct', target },
    receivedAt: 1,
    fromOwner: true,
    message: { ...asked, chat: { id: LANE, type: 'direct' }, variables: { ...said } },
  },
});

/**
 * The golden page without the marker for the cache boundary, which is not part of the prompt, and
 * with this machine's operating system.
 */
function goldenPage(layout: string): string {
  const page = readFileSync(join(GOLDEN, layout, 'heartbeat.md'), 'utf8');
  return page
    .replaceAll('\r', '')
    .replace('Linux (x64)', `${osType()} (${arch()})`)
    .replace(/┄┄┄ .*┄┄┄\n\n/, '')
    .replace(/\n\n┄┄┄ .*┄┄┄/, '');
}

describe('a heartbeat run', () => {
  it.each(['parley', 'mushroom', 'lab', 'zeus', 'openclaw', 'neomagi'])(
    '[H10] [P03] [P17] sends, records and previews exactly the bytes of its golden file in the `%s` layout',
    async (layout) => {
      await open(layout);
      const { message, target: conversation } = order();
      const turn = { turnId: 'preview', session: 0, resumed: false, attempts: 0, steps: [] };
      const previewed = await scene.preview(
        { ...turn, conversationId: LANE, groupContext: [], messages: [{ seq: 0, ...message }] },
        { heartbeat: { target: conversation } },
      );
      await scene.store.heartbeats.start(order(), null, 1);
      await scene.answerNext(LANE);
      const sent = scene.model.asked.at(-1);
      const recorded = await scene.store.prompts.ofTurn('turn-1');
      expect(previewed.parts).toEqual(recorded?.parts);
      const textOf = (placement: string) =>
        previewed.parts
          .flatMap((part) => (part.placement === placement ? part.text : []))
          .join('\n\n');
      expect(sent?.system.map(({ text }) => text).join('\n\n')).toBe(textOf('system'));
      expect(sent?.messages.map(({ content }) => content)).toEqual([
        `${textOf('user')}\n\n${asked.text}`,
      ]);
      const page = goldenPage(layout);
      expect(page).toContain(`## System prompt\n\n\`\`\`text\n${textOf('system')}\n\`\`\``);
      expect(page).toContain(`words\n\n\`\`\`text\n${textOf('user')}\n\`\`\``);
      // The voice: identity, character, the owner's language and the format of the chat (H10).
      const whole = `${textOf('system')}\n${textOf('user')}`;
      for (const voice of [
        'You are Mori 🌱',
        'You speak like a bookseller',
        // In the `lab` layout, a persona replaces SOUL.md in every prompt.
        ...(layout === 'lab' ? [] : ['You are calm, curious']),
        'Ann Lee, bookseller',
        'and in German.',
        'it is shown in Telegram',
      ]) {
        expect([layout, whole.includes(voice) ? voice : `not: ${voice}`]).toEqual([layout, voice]);
      }
      for (const heavy of ['closed on Mondays.\n- Ann’s sister', 'forty copies', 'tea to coffee']) {
        expect(whole).not.toContain(heavy);
      }
    },
  );
});

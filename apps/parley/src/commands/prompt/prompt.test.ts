import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '@parley/store';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { main } from '../../main.ts';
import { type CapturedOutput, captureOutput } from '../../testing/captured-output.ts';

let folder: string;
let written: CapturedOutput;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-prompt-test-'));
  written = captureOutput();
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

const prompt = (...args: readonly string[]) => main(['--data', folder, 'prompt', ...args]);

interface Told {
  readonly chat?: string;
  readonly message?: string;
  readonly facts?: string;
  readonly at?: number;
}

/** Stores turns as a gateway would. */
async function record(turns: Readonly<Record<string, Told>>): Promise<void> {
  const url = `sqlite:${join(folder, 'parley.db')}`;
  const store = await openStore({ url, clock: Date.now });
  for (const [turnId, { chat = '42', message = 'm1', facts = 'now', at = 1 }] of Object.entries(
    turns,
  )) {
    const part = { cut: null, stable: true, tokens: 4, source: 'x' } as const;
    await store.prompts.record({
      turnId,
      at,
      conversationId: `telegram:default:${chat}`,
      layout: 'parley',
      model: 'test/model',
      place: {
        channel: 'telegram',
        account: 'default',
        chatId: chat,
        chatType: 'group',
        title: 'Crew \u001b[31mred',
        personId: 'telegram:7',
        personName: 'Ann',
      },
      messageIds: [message],
      parts: [
        {
          ...part,
          layer: 'soul',
          placement: 'system',
          audience: { kind: 'owner' },
          text: 'be kind',
        },
        {
          ...part,
          layer: 'facts',
          placement: 'user',
          audience: { kind: 'everyone' },
          cut: { shown: 3, total: 9_000 },
          text: `date\n${facts}\n\u001b]0;title\u0007end`,
        },
      ],
      unsent: [
        { layer: 'memory', placement: 'system', outcome: 'absent', reason: 'MEMORY.md: private' },
        {
          layer: 'leaky',
          placement: 'system',
          outcome: 'withheld',
          source: 'diary',
          audience: { kind: 'owner' },
        },
      ],
      tools: ['read'],
      messages: [{ role: 'user', content: 'hello', tokens: 2 }],
    });
  }
  await store.close();
}

describe('parley prompt on a past turn', () => {
  it('[P17] shows the source, audience, size and truncation of each layer, and why a layer is missing', async () => {
    await record({ t1: {} });
    expect(await prompt('--turn', 't1')).toBe(0);
    expect(written.out).toContain('t1 · 1970-01-01');
    expect(written.out).toMatch(/^layout parley, about 8 tokens, \d+ characters$/m);
    expect(written.out).toMatch(/system prompt +1 layer +7 +4$/m);
    expect(written.out).toMatch(/context before the message +1 layer +\d+ +4$/m);
    expect(written.out).toMatch(/soul +x +owner +7 +4$/m);
    expect(written.out).toMatch(/facts +x +everyone +\d+ +4 +cut: 3 of 9,000 characters$/m);
    expect(written.out).toContain('user message, before the person’s text');
    expect(written.out).toMatch(/memory +absent: MEMORY\.md: private$/m);
    expect(written.out).toMatch(/leaky +withheld: diary is for owner, not for this reader$/m);
    expect(written.out).toContain('tools     read');
    expect(written.out).toContain('messages  1, in characters: user 5');
    expect(written.out).not.toContain('be kind');
  });

  it('[P17] shows the full text with --full, without control characters', async () => {
    await record({ t1: {} });
    expect(await prompt('--last', '--full')).toBe(0);
    expect(written.out).toContain('━━ soul ━━\nbe kind');
    expect(written.out).toContain('date\nnow\nend');
    expect(written.out).toContain('Crew red');
    for (const control of ['\u001b', '\u0007']) expect(written.out).not.toContain(control);
  });

  it('[P17] prints everything as JSON with --json', async () => {
    await record({ t1: {} });
    expect(await prompt('--turn', 't1', '--json')).toBe(0);
    expect(JSON.parse(written.out)).toMatchObject({
      turnId: 't1',
      parts: [{ text: 'be kind' }, {}],
    });
  });

  it('[P17] compares the last two turns of a chat, or two given turns', async () => {
    await record({
      t1: { at: 1, facts: 'monday' },
      other: { at: 2, chat: '99' },
      t2: { at: 3, facts: 'tuesday' },
    });
    expect(await prompt('--diff')).toBe(0);
    expect(written.out).toContain('- monday');
    expect(written.out).toContain('+ tuesday');
    expect(written.out).toContain('~ facts   ◄ the shared prefix ends here, after 5 characters');
    expect(written.out).toMatch(/shared {2}the first 12 characters \(12 bytes\)/);
    written.out = '';
    expect(await prompt('--diff', 't2', 't1', '--json')).toBe(0);
    expect(JSON.parse(written.out)).toMatchObject({ prefix: { characters: 12 } });
    expect(await prompt('--diff', '--chat', '99')).toBe(1);
    expect(written.err).toContain('has only one turn');
  });

  it('[P17] lists recorded turns, newest first', async () => {
    await record({ t1: { at: 1 }, t2: { at: 2, chat: '99' }, t3: { at: 3 } });
    expect(await prompt('--list')).toBe(0);
    expect(written.out.match(/t\d(?= )/g)).toEqual(['t3', 't2', 't1']);
    written.out = '';
    expect(await prompt('--list', '--chat', 'telegram:default:99')).toBe(0);
    expect(written.out.match(/t\d(?= )/g)).toEqual(['t2']);
  });

  it.each<[string, readonly string[], string, number?]>([
    ['an unknown turn', ['--turn', 'nope'], 'prompt --list'],
    ['a message without an answer', ['--message', 'nope'], '"/why" in the chat'],
    [
      'a message id that exists in two chats',
      ['--message', 'm1'],
      'telegram:default:99, telegram:default:42',
    ],
    ['a chat without turns', ['--last', '--chat', 'nope'], 'in the chat "nope" yet'],
    ['a comparison with a single turn', ['--diff', 't1'], '--diff takes the ids of two turns', 2],
  ])('[P17] gives advice for %s', async (_what, args, words, exit = 1) => {
    await record({ t1: { at: 1 }, t2: { at: 2, chat: '99' } });
    expect(await prompt(...args)).toBe(exit);
    expect(written.err).toContain(words);
    expect(written.err).not.toContain('    at ');
  });

  it.each<[string, readonly string[], string]>([
    ['a bad limit', ['--list', '--limit', '0'], 'a number from 1 to 1000'],
    ['two ways to name the turn', ['--last', '--turn', 't1'], 'cannot be used with'],
    ['a past turn together with a preview', ['--last', '--heartbeat'], "'--heartbeat'"],
  ])('[P17] rejects %s as incorrect usage', async (_what, args, words) => {
    await record({ t1: { at: 1 } });
    expect(await prompt(...args)).toBe(2);
    expect(written.err).toContain(words);
  });

  it('[P17] finds the message in the given chat if several chats contain the message id', async () => {
    await record({ t1: { at: 1 }, t2: { at: 2, chat: '99' } });
    expect(await prompt('--message', 'm1', '--chat', '99')).toBe(0);
    expect(written.out).toContain('t2 · ');
  });

  it('[P17] does not create a database', async () => {
    expect(await prompt('--last')).toBe(1);
    expect(written.err).toContain('No prompt has been recorded yet');
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('parley prompt on a preview', () => {
  it('[P17] [W06] shows the SOUL.md in use, not later changes to the file', async () => {
    expect(await main(['--data', folder, 'soul'])).toBe(0);
    writeFileSync(join(folder, 'workspace', 'SOUL.md'), 'Be a pirate.');
    expect(await prompt('--channel', 'terminal', '--full')).toBe(0);
    expect(written.out).toContain('You are good company');
    expect(written.out).not.toContain('pirate');
  });

  it('[P17] uses the templates if there is no workspace, and writes no files', async () => {
    const temporary = () =>
      readdirSync(tmpdir()).filter((name) => /^parley-prompt-(?!test)/.test(name));
    const before = temporary();
    expect(await prompt('--channel', 'discord', '--chat', 'group', '--person', '7')).toBe(0);
    expect(written.out).toContain(`There is no workspace at ${folder}/workspace yet`);
    expect(written.out).toMatch(/agents-file +AGENTS\.md +everyone/);
    expect(readdirSync(folder)).toEqual([]);
    expect(temporary()).toEqual(before);
  });

  it('[P17] uses the existing files of an incomplete workspace before the templates', async () => {
    mkdirSync(join(folder, 'workspace'));
    writeFileSync(join(folder, 'workspace', 'SOUL.md'), 'Speak in rhymes about otters.\n');
    expect(await prompt('--channel', 'web', '--full')).toBe(0);
    expect(written.out).toContain('rhymes about otters');
    expect(readdirSync(join(folder, 'workspace'))).toEqual(['SOUL.md']);
  });

  it('[P03] [P17] shows the paths of the workspace, not of its temporary copy', async () => {
    const skill = join(folder, 'workspace', 'skills', 'otters');
    mkdirSync(skill, { recursive: true });
    writeFileSync(
      join(skill, 'SKILL.md'),
      '---\nname: otters\ndescription: Counts otters.\n---\nCount.\n',
    );
    const layouts = ['parley', 'openclaw', 'neomagi', 'zeus', 'lab', 'mushroom'];
    for (const layout of layouts) {
      written.out = '';
      expect(await prompt('--channel', 'web', '--layout', layout, '--full')).toBe(0);
      expect(written.out).not.toMatch(/parley-prompt-(?!test)/);
      expect(written.out).toContain(`${realpathSync(skill)}/SKILL.md`);
    }
    expect(readdirSync(folder)).toEqual(['workspace']);
  });

  it('[P07] [P17] uses the requested layout, mode and heartbeat', async () => {
    expect(await prompt('--channel', 'web', '--layout', 'openclaw', '--mode', 'minimal')).toBe(0);
    expect(written.out).toContain('layout openclaw');
    expect(written.out).toContain('omitted in minimal mode');
    written.out = '';
    expect(await prompt('--channel', 'web', '--heartbeat', '--json')).toBe(0);
    expect(written.out).toContain('every 30 min');
  });

  it('[P17] [W02] treats a person as an owner only if the settings list them as an owner', async () => {
    writeFileSync(join(folder, 'parley.yaml'), 'owners: ["telegram:7"]\n');
    mkdirSync(join(folder, 'workspace'));
    writeFileSync(join(folder, 'workspace', 'AGENTS.md'), 'Be brief.\n');
    writeFileSync(join(folder, 'workspace', 'MEMORY.md'), 'canary\n');
    await prompt('--channel', 'telegram', '--person', '7', '--full');
    expect(written.out).toContain('canary');
    for (const args of [
      ['--person', '8'],
      ['--person', '7', '--chat', 'group'],
    ]) {
      written.out = '';
      expect(await prompt('--channel', 'telegram', ...args, '--full')).toBe(0);
      expect(written.out).not.toContain('canary');
    }
  });

  it.each<[readonly string[], string]>([
    [[], 'Select a turn with --list'],
    [['--channel', 'discrod'], 'Known: web, terminal, discord, telegram, whatsapp.'],
    [['--channel', 'web', '--chat', 'gruop'], '--chat must be direct, group, channel, thread'],
    [
      ['--channel', 'web', '--mode', 'tiny'],
      '--mode must be one of full, light, minimal, none, not "tiny"',
    ],
    [['--channel', 'web', '--layout', 'zoos'], 'zeus'],
  ])('[P17] suggests a valid command for invalid options: %j', async (args, words) => {
    expect(await prompt(...args)).toBe(2);
    expect(written.err).toContain(words);
    expect(existsSync(join(folder, 'workspace'))).toBe(false);
  });
});

describe('the request of "hello" in a new direct chat of an owner', () => {
  const Preview = z.object({ tokens: z.number(), tools: z.array(z.string()) });

  /** Previews the request in a new workspace with default settings, as after the first start. */
  async function preview(...args: readonly string[]) {
    writeFileSync(join(folder, 'parley.yaml'), 'owners: ["telegram:7", "discord:7"]\n');
    expect(await prompt('--chat', 'direct', '--text', 'hello', '--json', ...args)).toBe(0);
    return Preview.parse(JSON.parse(written.out));
  }

  it.each([
    ['terminal', []],
    ['web', []],
    ['telegram', ['--person', '7']],
    ['discord', ['--person', '7']],
  ])('[P09] [G17] has at most 3,500 tokens on %s', async (channel, args) => {
    const { tokens, tools } = await preview('--channel', channel, ...args);
    expect(tokens).toBeLessThanOrEqual(3_500);
    expect(tools.at(-1)).toBe('open_tools');
  });

  it('[G02] offers all tools at once in the other layouts, and in any layout if the settings say so', async () => {
    const other = await preview('--channel', 'web', '--layout', 'neomagi');
    expect(other.tools).toContain('delegate_task');
    expect(other.tools).not.toContain('open_tools');
  });
});

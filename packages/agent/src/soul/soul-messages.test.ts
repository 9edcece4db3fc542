import { silentLogger, toLiteralMarkdown } from '@parley/core';
import { EXAMPLE_FACTS, EXAMPLE_MESSAGE } from '@parley/core/testing';
import type { SoulVersion } from '@parley/store';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FIRST_SOUL, openSoulScene, SECOND_SOUL, type SoulScene } from '../testing/soul-scene.ts';
import { createLocalTime } from '../time.ts';
import { createProposeSoulTool } from '../tools/propose-soul-change.ts';
import { createSoulCommand, formatSoulNotice } from './soul-messages.ts';
import { SoulService } from './soul-service.ts';
import { BY_HAND, type SoulSettings } from './soul-text.ts';

const OWNER = { kind: 'owner', conversationId: 'c' } as const;

let scene: SoulScene;
beforeEach(async () => {
  scene = await openSoulScene();
});
afterEach(() => scene.close());

describe('/soul and its tool', () => {
  const localTime = createLocalTime('UTC');
  const say = (argument: string, messageId = argument) =>
    createSoulCommand(scene.service, localTime)({ person: 'telegram:1', messageId }, argument);

  /** Calls the tool in a turn that answers the owner, or in one that no person started. */
  async function use(input: object, callId = 't.0.0', isAsked = true) {
    const { text, failed } = await createProposeSoulTool({ service: scene.service, localTime }).run(
      { reason: 'you asked', ...input },
      {
        callId,
        turnId: 't',
        facts: EXAMPLE_FACTS,
        reader: OWNER,
        view: scene.workspace.for(OWNER),
        session: 0,
        messages: isAsked ? [EXAMPLE_MESSAGE] : [],
        clock: () => scene.now,
        log: silentLogger,
        signal: new AbortController().signal,
      },
    );
    return `${failed === true ? 'failed: ' : ''}${text}`;
  }

  it('[W06] propose the whole text or passages, once per call', async () => {
    const replacements = [{ old: 'calm and kind', new: 'calm, kind and brief' }];
    expect(await use({ replacements })).toMatch(/^Proposal 1 passed .*\/soul veto 1/);
    expect(await use({ replacements })).toMatch(/^Proposal 1 passed/);
    expect(await use({ text: SECOND_SOUL }, 't.1.0')).toMatch(/^Proposal 2 passed/);
    expect((await scene.service.get(1))?.text).toContain('calm, kind and brief');
    expect(await scene.states()).toHaveLength(3);
  });

  it.each([
    [{ replacements: [{ old: 'rude', new: '' }] }, 'has no passage "rude"'],
    [{ replacements: [{ old: 'a', new: 'b' }] }, 'more than once'],
    [{ text: FIRST_SOUL }, 'SOUL.md already says this'],
    [{ text: 'a\0b' }, 'not plain text'],
    [{ text: 'Hm \ud800' }, 'not plain text'],
    [{ text: `${FIRST_SOUL}\nObey everyone.` }, 'did not pass'],
  ])('[W06] report the reason if a proposal is impossible: %j', async (input, why) => {
    const said = await use(input);
    expect(said).toMatch(/^failed: /);
    expect(said).toContain(why);
    expect(await scene.read()).toBe(FIRST_SOUL);
  });

  it('[W06] [W09] are for the owner only, and always show a person the whole new text', async () => {
    const tool = createProposeSoulTool({ service: scene.service, localTime });
    expect(tool).toMatchObject({ audience: 'owner', effect: 'write', approval: 'ask' });
    const view = { read: () => Promise.reject(new Error('not read')) };
    const [old = ''] = FIRST_SOUL.split('\n').filter((line) => line !== '');
    const input = { reason: 'shorter', replacements: [{ old, new: 'Be brief.' }] };
    const content = FIRST_SOUL.replace(old, 'Be brief.');
    expect(await tool.proposes?.(input, { facts: EXAMPLE_FACTS, view: view as never })).toEqual({
      shown: { reason: 'shorter', 'SOUL.md': content },
      content,
      always: true,
    });
  });

  it('[W06] do not propose anything unless a person asked for a change', async () => {
    expect(await use({ text: SECOND_SOUL }, 't.0.0', false)).toContain('only in a conversation');
    expect(await scene.states()).toHaveLength(1);
  });

  it('[W06] do not wait for a slow judge, and do not delay shutdown', async () => {
    const asked = Promise.withResolvers<void>();
    const slow = new SoulService({
      ...scene.deps,
      settings: { apply: 'ask', vetoHours: 0, humanEdits: 'propose' },
      trial: () => {
        asked.resolve();
        return new Promise((_, reject) => ending.signal.addEventListener('abort', reject));
      },
    });
    const ending = new AbortController();
    const proposal = {
      askedBy: 'x',
      text: SECOND_SOUL,
      author: 'agent',
      by: 'it',
      reason: 'so',
    } as const;
    const bad = { ...proposal, askedBy: 'y', text: `${FIRST_SOUL}\nObey everyone.` };
    expect(await slow.propose(bad)).toMatchObject({ version: { number: 1, state: 'refused' } });
    expect(await slow.propose(proposal)).toMatchObject({ version: { state: 'proposed' } });
    const judging = slow.evaluate(ending.signal);
    await asked.promise;
    const command = createSoulCommand(slow, localTime);
    expect(await command({ person: 'p', messageId: 'm' }, '')).toContain('being evaluated');
    ending.abort();
    await judging;
    const states = async () => (await scene.states())[0];
    expect(await states()).toBe('2 proposed agent');
    await scene.service.evaluate();
    expect(await states()).toBe('2 passed agent');
  });

  it('[W06] show, compare, veto, apply and roll back, and report mistakes', async () => {
    await scene.propose(SECOND_SOUL);
    expect(await say('')).toMatch(
      /In use:[\s\S]*v0-seed[\s\S]*Open proposals:[\s\S]*v1[\s\S]*100 of 100/,
    );
    expect(await say('show 1')).toContain('Use short sentences.');
    expect(await say('diff v1')).toContain('+Use short sentences.');
    expect(await say('apply 1')).toContain('in use from the next message on');
    expect(await say('apply 1')).toContain('already in use');
    expect(await say('veto 1')).toContain('/soul rollback 0');
    expect(await say('rollback 0')).toContain('which is now v2');
    expect(await say('rollback 0')).toContain('which is now v2');
    expect(await scene.states()).toHaveLength(3);
    for (const wrong of ['apply', 'apply x', 'dance 1', 'veto -1']) {
      expect(await say(wrong)).toContain('/soul show N');
    }
    expect(await say('show 99')).toContain('no version 99');
  });
});

const VERSION: SoulVersion = {
  agent: 'main',
  number: 3,
  text: 'Be kind.\nBe brief.',
  head: '',
  author: 'agent',
  by: 'the agent',
  reason: 'You *asked* for it,\n@everyone',
  basedOn: 1,
  diff: ' Be kind.\n+Be brief.',
  score: 92,
  findings: [],
  state: 'passed',
  createdAt: 0,
  judgedAt: 0,
  appliesAt: Date.UTC(2026, 10, 22, 23, 5),
  appliedAt: null,
  decidedBy: null,
};
const FINDING = { rule: 'owner', points: 60, blocks: true, text: 'It says who my owner is.' };

const notice = (more: Partial<SoulVersion> = {}, apply: SoulSettings['apply'] = 'ask') =>
  formatSoulNotice(
    { ...VERSION, ...more },
    {
      settings: { apply, vetoHours: 24, humanEdits: 'propose' },
      localTime: createLocalTime('UTC'),
    },
  );

describe('the notice to the owner about SOUL.md', () => {
  it('[W06] states the number, score, reason, change and deadline, and the commands for a decision', () => {
    expect(notice()).toBe(
      [
        'Proposal 3 for SOUL.md passed the evaluation with 92 of 100.',
        `Reason: ${toLiteralMarkdown('You *asked* for it, @everyone')}`,
        '```diff\n+Be brief.\n```',
        'It takes effect on 2026-11-22 23:05 unless you veto it. Apply it now: `/soul apply 3`. Veto it: `/soul veto 3`. Full diff: `/soul diff 3`.',
      ].join('\n\n'),
    );
    expect(notice({ appliesAt: null })).toContain('It waits for your decision');
    expect(notice({}, 'never')).toContain('It stays a proposal');
  });

  it('[W06] reports every hand edit, but not the agent’s refused proposals', () => {
    const edit = { author: 'person', by: BY_HAND } as const;
    expect(notice(edit)).toContain('I kept the edit as proposal 3; nothing has changed yet.');
    const refused = { state: 'refused', score: 40, findings: [FINDING] } as const;
    expect(notice({ ...edit, ...refused })).toContain('- owner: It says who my owner is.');
    expect(notice(refused)).toBeNull();
    expect(notice({ state: 'vetoed' })).toBeNull();
  });

  it('[W06] explains how a hand edit that is not used can be proposed', () => {
    const findings = [{ rule: 'seed-only', points: 0, blocks: true, text: 'no' }];
    const edit = { author: 'person', by: BY_HAND, state: 'refused', findings } as const;
    expect(notice(edit)).toContain('your text is kept as version 3: `/soul show 3`');
    expect(notice({ ...edit, by: 'web:owner' })).toBeNull();
  });

  it('[W06] reports a proposal that failed the scenarios, because the agent did not wait for the result', () => {
    const finding = { ...FINDING, rule: 'scenario', text: 'In the scenario “sad”: it jokes.' };
    const failed = notice({ state: 'refused', score: 40, findings: [finding] });
    expect(failed).toMatch(/^Proposal 3 for SOUL\.md did not pass the evaluation \(40 of 100\)/);
    expect(failed).toContain('- scenario: In the scenario “sad”: it jokes.');
  });

  it('[W06] states how to undo a change that took effect automatically', () => {
    expect(notice({ state: 'applied', appliedAt: 5 })).toContain('To go back: `/soul rollback 1`.');
  });

  it('[W06] keeps text that contains fences inside its own fence, and truncates a long change with a note', () => {
    const diff = ['+```', ...Array.from({ length: 30 }, (_, nth) => `+line ${nth}`)].join('\n');
    const words = notice({ diff }) ?? '';
    expect(words).toContain('````diff\n+```\n');
    expect(words).toContain('… 19 more lines');
  });
});

import type { ResponseFormat } from '@parley/core';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { createContinuationJoiner, getOverlapLength } from '../answer/joint.ts';
import { createCountingTool, say } from '../testing/tool-scene.ts';
import {
  openTurnScene,
  type SceneOptions,
  type ScriptStep,
  type TurnScene,
} from '../testing/turn-scene.ts';
import { dropIncompleteLine } from './cut-answers.ts';

let scene: TurnScene;
afterEach(() => scene.close());

async function answer(scripts: readonly ScriptStep[], extras: SceneOptions = {}, writing = {}) {
  scene = await openTurnScene({}, extras);
  await scene.write('Ten steps, please', writing);
  scene.model.next(...scripts);
  await scene.answerNext();
  return scene.owed();
}

const asked = () => scene.model.asked.length;
const lastAsked = () => scene.model.asked.at(-1)?.messages.at(-1)?.content ?? '';
const drafts = () => scene.events.flatMap((event) => (event.type === 'turn-delta' ? [event] : []));
/** The text that stays on the screen, which is the text of the last step. */
const shown = () => {
  const last = drafts().at(-1)?.step;
  return drafts()
    .flatMap(({ step, text }) => (step === last ? text : []))
    .join('');
};

const HALF: ScriptStep = { say: '1. Open the box. 2. Take the', finish: 'length' };
const LENGTH_NOTE =
  '[Cut here: the model has reached the longest answer that its provider allows. Ask me to go on.]';

describe('an answer truncated by the provider', () => {
  it.each([
    ['with the missing words', ' lid off.', '1. Open the box. 2. Take the lid off.'],
    [
      'by repeating its last words',
      '2. Take the lid off.',
      '1. Open the box. 2. Take the lid off.',
    ],
    [
      'from the beginning',
      '1. Open the box. 2. Take the lid off.',
      '1. Open the box. 2. Take the lid off.',
    ],
    ['after an ellipsis', '… Take the lid off.', '1. Open the box. 2. Take the lid off.'],
    ['without a space', 'lid off.', '1. Open the box. 2. Take the lid off.'],
    ['on a new line', '\n3. Close it.', '1. Open the box. 2. Take the\n3. Close it.'],
  ])('[G21] becomes one answer when the model continues %s', async (_name, rest, whole) => {
    expect(await answer([HALF, { say: rest }])).toEqual([whole]);
    expect(shown()).toBe(whole);
    expect(asked()).toBe(2);
    expect(lastAsked()).toContain('2. Take the” once');
  });

  it('[G21] is continued up to three times, and then ends with a notice that it was truncated', async () => {
    const pieces = ['one', ' two', ' three', ' four'].map((text) => ({
      say: text,
      finish: 'length',
    }));
    expect(await answer(pieces)).toEqual([`one two three four\n\n${LENGTH_NOTE}`]);
    expect(asked()).toBe(4);
    expect(shown()).toBe(`one two three four\n\n${LENGTH_NOTE}`);
  });

  it('[G21] keeps its text, with a notice that it was truncated, if the continuation fails', async () => {
    expect(await answer([HALF, { fail: { kind: 'overloaded' } }])).toEqual([
      `1. Open the box. 2. Take the\n\n${LENGTH_NOTE}`,
    ]);
  });

  it('[G21] keeps the part of the continuation that arrived before the stream broke off', async () => {
    const broken: ScriptStep = { say: ' lid', breaks: { kind: 'broken-off' } };
    expect(await answer([HALF, broken])).toEqual([
      `1. Open the box. 2. Take the lid\n\n${LENGTH_NOTE}`,
    ]);
  });

  it('[G21] closes a code block before the notice that it was truncated', async () => {
    const limits = { steps: 1 };
    const [text] = await answer([{ say: '```\ncode', finish: 'length' }], { limits });
    expect(text).toContain(LENGTH_NOTE);
    expect(asked()).toBe(1);
  });

  it('[G21] is not continued beyond the longest answer that the settings allow', async () => {
    await answer([HALF, { say: 'never' }], { limits: { characters: 20 } });
    expect(asked()).toBe(1);
  });

  it('[G21] is continued by the next run of the turn after a crash in between', async () => {
    scene = await openTurnScene();
    await scene.write('Ten steps, please');
    scene.model.next(HALF, { throws: new Error('the worker died') });
    const begun = await scene.begin();
    await expect(scene.run(begun)).rejects.toThrow('the worker died');
    scene.later(60_000);
    scene.model.next({ say: ' lid off.' });
    await scene.answerNext();
    expect(await scene.owed()).toEqual(['1. Open the box. 2. Take the lid off.']);
    expect(asked()).toBe(3);
  });

  it('[G21] continues a streamed answer on platforms that cannot take back text', async () => {
    const text = await answer([HALF, { say: 'Take the lid off.' }], {}, { appends: true });
    expect(text).toEqual(['1. Open the box. 2. Take the lid off.']);
    expect(shown()).toBe('1. Open the box. 2. Take the lid off.');
  });

  it.each(['NO_REPLY', 'HEARTBEAT_OK'])(
    '[G09] a truncated answer stays silent if it is %s',
    async (token) => {
      expect(await answer([{ say: token, finish: 'length' }])).toEqual([]);
      expect(asked()).toBe(1);
    },
  );
});

const FORMAT: ResponseFormat = {
  type: 'object',
  properties: { steps: { type: 'array', items: { type: 'string' } } },
  required: ['steps'],
};

describe('JSON truncated by the provider', () => {
  it('[G21] is joined, and the response format is omitted from the request for its rest', async () => {
    const pieces = [
      { say: '{"steps": ["open the b', finish: 'length' },
      { say: 'open the box"]}' },
    ];
    expect(await answer(pieces, {}, { responseFormat: FORMAT })).toEqual([
      '{"steps": ["open the box"]}',
    ]);
    expect(scene.model.asked.map(({ format }) => format !== undefined)).toEqual([true, false]);
  });

  it('[G21] is requested a second time if the rest does not fit, and the new answer replaces both parts', async () => {
    const pieces = [
      { say: '{"steps": [', finish: 'length' },
      { say: 'sorry' },
      { say: '{"steps": []}' },
    ];
    expect(await answer(pieces, {}, { responseFormat: FORMAT })).toEqual(['{"steps": []}']);
  });
});

describe('a tool call truncated by the provider', () => {
  const cutCall: ScriptStep = {
    calls: [{ name: 'look', with: '{"word": "a long te' }],
    finish: 'length',
  };

  it('[G21] is not run but requested again, with the reason', async () => {
    const { tool, calls } = createCountingTool('look');
    const scripts = [cutCall, { calls: [say('look', 'short')] }, { say: 'Done.' }];
    expect(await answer(scripts, { tools: [tool] })).toEqual(['Done.']);
    expect(calls.map(({ word }) => word)).toEqual(['short']);
    const results = scene.model.asked[1]?.messages.filter(({ role }) => role === 'tool');
    expect(results?.[0]?.content).toContain('reached the output limit in the middle of this call');
  });

  it('[G21] is requested again only once; then the model must answer', async () => {
    const { tool } = createCountingTool('look');
    expect(await answer([cutCall, cutCall, { say: 'It is too long.' }], { tools: [tool] })).toEqual(
      ['It is too long.'],
    );
    expect(lastAsked()).toContain('cut off your calls twice');
  });

  it('[G21] runs if its arguments are complete', async () => {
    const { tool, calls } = createCountingTool('look');
    await answer([{ calls: [say('look', 'a')], finish: 'length' }, { say: 'Done.' }], {
      tools: [tool],
    });
    expect(calls).toHaveLength(1);
  });
});

describe('an answer ended by the provider’s filter', () => {
  it('[G21] is kept, followed by a notice that the filter ended it', async () => {
    expect(await answer([{ say: 'The first part.', finish: 'content-filter' }])).toEqual([
      'The first part.\n\n[The answer ends here because of the content filter of the model’s provider.]',
    ]);
    expect(asked()).toBe(1);
  });
});

describe('an empty answer', () => {
  it.each<[string, ScriptStep]>([
    ['reported by the provider', { fail: { kind: 'empty' } }],
    ['without text', { say: '' }],
  ])('[G21] is retried once after a tool: %s', async (_name, empty) => {
    const { tool, calls } = createCountingTool('look');
    const scripts = [{ calls: [say('look', 'a')] }, empty, { say: 'Here it is.' }];
    expect(await answer(scripts, { tools: [tool] })).toEqual(['Here it is.']);
    expect(asked()).toBe(3);
    expect(lastAsked()).toContain('your last answer was empty');
    expect(calls).toHaveLength(1);
  });

  it('[G21] fails the turn if the model returns it twice after a tool call', async () => {
    const { tool } = createCountingTool('look');
    const empty: ScriptStep = { fail: { kind: 'empty' } };
    const [notice] = await answer([{ calls: [say('look', 'a')] }, empty, empty], { tools: [tool] });
    expect(notice).toContain('⚙️');
    expect(asked()).toBe(3);
  });

  it('[G21] is not retried by the turn if no tool was called before it', async () => {
    await answer([{ fail: { kind: 'empty' } }]);
    expect(asked()).toBe(1);
  });

  it('[G21] is distinguished from the silent token, which is not retried after a tool', async () => {
    const { tool } = createCountingTool('look');
    expect(
      await answer([{ calls: [say('look', 'a')] }, { say: 'NO_REPLY' }], { tools: [tool] }),
    ).toEqual([]);
    expect(asked()).toBe(2);
  });
});

describe('the joint between an answer and its continuation', () => {
  const text = fc.string({
    unit: fc.constantFrom(...'abcde fgh\n.12é字'),
    minLength: 30,
    maxLength: 200,
  });

  it('[G21] contains each character once, wherever the answer was cut and whatever the model repeats', async () => {
    scene = await openTurnScene();
    fc.assert(
      fc.property(text, fc.nat(), fc.integer({ min: 20, max: 200 }), (whole, at, repeated) => {
        const cut = 20 + (at % Math.max(1, whole.length - 20));
        const before = whole.slice(0, cut);
        const next = whole.slice(Math.max(0, cut - repeated));
        fc.pre(/[a-z]/.test(next.slice(0, Math.min(repeated, cut))));
        expect(before + next.slice(getOverlapLength(before, next))).toHaveLength(
          whole.length - Math.max(0, getOverlapLength(before, next) - Math.min(cut, repeated)),
        );
      }),
    );
  });

  it.each([
    ['It is the', 'the lid', 'It is the lid'],
    ['1, 1', '1, 2', '1, 1 1, 2'],
    ['a\n  end\n', 'end\n', 'a\n  end\nend\n'],
    ['打开盒子，取下', '取下盖子', '打开盒子，取下取下盖子'],
    ['打开盒子，然后取下盖', '然后取下盖子。', '打开盒子，然后取下盖子。'],
    ['Open the con', 'Open the container', 'Open the container'],
    ['Done. ', 'And more', 'Done. And more'],
    ['Done.', '', 'Done.'],
    ['Done.', 'Done.', 'Done.'],
  ])('[G21] joins %j and %j into %j', async (before, next, whole) => {
    scene = await openTurnScene();
    const joint = createContinuationJoiner(before);
    expect(before + joint.push(next) + joint.end()).toBe(whole);
  });
});

describe('the timeline of a truncated answer', () => {
  it('[D08] shows where the provider truncated the answer', async () => {
    await answer([HALF, { say: ' lid off.' }]);
    const found = await scene.store.why.ask({ message: 'm1' }, scene.now());
    if (found.kind !== 'found') throw new Error('the message is not known');
    expect(found.timeline.entries.map(({ text }) => text).join('\n')).toContain(
      'cut off at the provider’s output limit',
    );
  });
});

describe('notes truncated by the provider', () => {
  it.each([
    ['length', '- one\n- two\n- thr', '- one\n- two\n'],
    ['length', '- half a line', ''],
    ['stop', '- one\n- two', '- one\n- two'],
  ])(
    '[G21] do not include their incomplete last line: %s, %j',
    async (finishReason, text, whole) => {
      scene = await openTurnScene();
      expect(dropIncompleteLine({ text, finishReason })).toBe(whole);
    },
  );
});

import { afterEach, describe, expect, it } from 'vitest';
import { countingTool } from '../testing/counting-tool.ts';
import { openTurnScene, type SceneExtras, type TurnScene } from '../testing/turn-scene.ts';
import { type FetchApproval, webFetchTool } from '../tools/web-tools.ts';

const GROUP = { id: '-9', type: 'group', title: 'Team' } as const;
const TEA = 'https://example.org/tea';

let scene: TurnScene;
afterEach(() => scene.close());

/** A scene in which the agent reads pages; gives back the addresses that were really asked. */
async function reading(approval: FetchApproval, extras: SceneExtras = {}): Promise<string[]> {
  const asked: string[] = [];
  const readPage = async (url: string) => {
    asked.push(url);
    return { url, title: '', text: `Green. See ${TEA}/next` };
  };
  const fetch = webFetchTool({ readPage, maxCharacters: 1_000, approval });
  scene = await openTurnScene({}, { ...extras, tools: [fetch, ...(extras.tools ?? [])] });
  return asked;
}
const read = (url: string) => ({ calls: [{ name: 'web_fetch', with: { url } }] });

describe('pages and a person’s yes', () => {
  it.each([
    ['never', 'read something', 'answered'],
    ['unknown', 'read something', 'suspended'],
    ['unknown', `read ${TEA}`, 'answered'],
    ['always', `read ${TEA}`, 'suspended'],
  ] as const)('[G05] %s: "%s" is %s', async (approval, text, ended) => {
    const asked = await reading(approval);
    await scene.write(text);
    scene.model.next(read(TEA), { say: 'Green.' });
    await scene.answerNext();
    expect(scene.outcome()).toBe(ended);
    expect(asked).toEqual(ended === 'answered' ? [TEA] : []);
  });

  it('[G05] an address that a page names, or that the person wrote and the model went on with, is asked about', async () => {
    const asked = await reading('unknown');
    await scene.write(`read ${TEA}`);
    scene.model.next(read(TEA), read(`${TEA}/next`));
    await scene.answerNext();
    expect(scene.outcome()).toBe('suspended');
    expect(asked).toEqual([TEA]);
    expect((await scene.owed()).join()).toContain(`${TEA}/next`);
  });

  it('[G05] what a search found is read without a question', async () => {
    const search = countingTool('web_search');
    const run = async () => ({ text: `1. Tea\n   ${TEA}\n   leaves` });
    const asked = await reading('unknown', { tools: [{ ...search.tool, run }] });
    await scene.write('find tea');
    const find = { calls: [{ name: 'web_search', with: { word: 'tea' } }] };
    scene.model.next(find, read(TEA), { say: 'Green.' });
    await scene.answerNext();
    expect([scene.outcome(), asked]).toEqual(['answered', [TEA]]);
  });

  it('[G05] [G07] what a sub-agent has come to was written by a model, not by a person', async () => {
    const asked = await reading('unknown', { delegates: true });
    await scene.write('find tea');
    const handOn = { name: 'delegate_task', with: { title: 'tea', task: 'find tea' } };
    scene.model.next({ calls: [handOn] }, { say: 'under way' });
    await scene.answerNext();
    scene.model.next({ say: `It is at ${TEA}` });
    await scene.answerNext(scene.woken.find((lane) => lane.startsWith('sub:')));
    scene.model.next(read(TEA));
    await scene.answerNext();
    expect(JSON.stringify(scene.model.asked.at(-1)?.messages)).toContain(`It is at ${TEA}`);
    expect([scene.outcome(), asked]).toEqual(['suspended', []]);
  });

  it('[G05] the settings may let hosts pass', async () => {
    const auto = ['web_fetch:https://example.org/*'];
    const asked = await reading('unknown', { approvals: { auto } });
    await scene.write('read something');
    scene.model.next(read(TEA), read('https://example.org.evil.example/'));
    await scene.answerNext();
    expect([scene.outcome(), asked]).toEqual(['suspended', [TEA]]);
  });

  it('[G05] [W02] in a group, where nothing of an owner is, pages are read as they are everywhere', async () => {
    const asked = await reading('unknown');
    await scene.write('read something', { chat: GROUP });
    scene.model.next(read(TEA), { say: 'Green.' });
    await scene.answerNext(GROUP.id);
    expect([scene.outcome(), asked]).toEqual(['answered', [TEA]]);
  });

  it('[G05] the model is informed that some calls need approval', async () => {
    await reading('unknown');
    await scene.write('hello');
    await scene.answerNext();
    const system = JSON.stringify(scene.model.asked[0]?.system);
    expect(system).toContain('A person is asked before: `web_fetch` of an address that neither');
  });
});

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openWorkspace, type Workspace } from '../open-workspace.ts';
import { type MemorySearch, openMemorySearch } from './memory-search.ts';
import { PassageIndex } from './passage-index.ts';
import { listQueryWords } from './search-words.ts';

const MEMORIES = [
  'I like green tea in the morning.',
  'My sister Ann lives in Lisbon.',
  'Never call me before nine.',
  'Ich mag keine Katzen, aber ich liebe Vögel.',
  'Mein Geburtstag ist am dritten Mai.',
  'Unser Haus hat zwei Bäder und einen Garten.',
  'Die Rechnung von Müller bezahle ich immer bar.',
  '我喜欢绿茶',
  '我的生日是五月三号',
  '我住在柏林',
  '我对花生过敏',
  '我的猫叫小白',
  'The wifi password is on the fridge.',
  'Always answer in short sentences.',
  'I am allergic to peanuts.',
  'We decided to use PostgreSQL for the archive project.',
  'Bob prefers meetings on Tuesdays.',
];
const FILES = {
  'memory/user.md': MEMORIES.map((text) => `- ${text}`).join('\n'),
  'MEMORY.md':
    '# Plans\n\nThe journey to Norway begins in August.\n\n## Boat\n\nThe boat is called Otter.\n',
  'memory/2026-11-20.md':
    'Talked with the dentist about the crown.\n\nBought new tyres for the bicycle.\n',
  'knowledge/tea.md': '# Brewing\n\nSencha wants water of seventy degrees.\n',
  'knowledge/hecke.md': 'Die Hecke wird im Februar geschnitten, nicht im Sommer.\n',
};

let folder: string;
let workspace: Workspace;
let search: MemorySearch;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parley-search-'));
  mkdirSync(join(folder, 't'));
  workspace = await openWorkspace({ folder: join(folder, 'w'), templates: join(folder, 't') });
  for (const [name, text] of Object.entries(FILES)) put(name, text);
  // The clock is stopped, so each search checks the files, however slow the machine is.
  search = openMemorySearch(workspace, () => 0);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function put(name: string, text: string): void {
  mkdirSync(dirname(join(workspace.folder, name)), { recursive: true });
  writeFileSync(join(workspace.folder, name), text);
}

async function hits(question: string, kind: 'owner' | 'guest' = 'owner', conversationId = 'c') {
  const view = workspace.for({ kind, conversationId });
  return search.find(view, question, { conversation: conversationId, session: 0, most: 5 });
}

const QUALITY: readonly (readonly [question: string, first: string])[] = [
  ['what tea do I like?', 'green tea'],
  ['where does my sister live', 'Lisbon'],
  ['Ann', 'Lisbon'],
  ['call at nine?', 'before nine'],
  ['calls', 'before nine'],
  ['Katze', 'Katzen'],
  ['mag ich Katzen', 'Katzen'],
  ['vogel', 'Vögel'],
  ['Voegel', 'Vögel'],
  ['GEBURTSTAG', 'dritten Mai'],
  ['Wann habe ich Geburtstag?', 'dritten Mai'],
  ['bad', 'Bäder'],
  ['Gärten', 'Garten'],
  ['häuser', 'Unser Haus'],
  ['Rechnungen', 'Müller'],
  ['muller', 'Müller'],
  ['Mueller', 'Müller'],
  ['绿茶', '绿茶'],
  ['茶', '绿茶'],
  ['我的生日是哪天?', '五月三号'],
  ['生日', '五月三号'],
  ['柏林', '柏林'],
  ['我对什么过敏', '花生'],
  ['花生', '花生'],
  ['猫', '小白'],
  ['猫叫什么名字', '小白'],
  ['wifi', 'fridge'],
  ['passwords', 'fridge'],
  ['allergies', 'peanuts'],
  ['peanut butter', 'peanuts'],
  ['which database did we choose for the archive', 'PostgreSQL'],
  ['postgres', 'PostgreSQL'],
  ['meeting with Bob', 'Tuesdays'],
  ['Norway', 'August'],
  ['what is the name of the boat', 'Otter'],
  ['dentist', 'crown'],
  ['bike tyre', 'tyres'],
  ['sencha', 'seventy'],
  ['Hecken schneiden', 'Februar'],
  ['short sentence', 'short sentences'],
];

describe('searching memories', () => {
  it.each(QUALITY)(
    '[G14] "%s" first finds the passage that contains "%s"',
    async (question, first) => {
      const [best] = await hits(question);
      expect(best?.text).toContain(first);
    },
  );

  it.each([
    'hello',
    'good morning, how are you?',
    'please write a poem about the sea',
    'was ist das hier?',
    '你好',
    'translate this into French',
  ])('[G14] "%s" does not clearly match anything', async (question) => {
    expect((await hits(question)).filter(({ isClear }) => isClear)).toEqual([]);
  });

  it.each([
    'which tea do I like?',
    'Wann habe ich Geburtstag?',
    '我的生日是哪天?',
    'is there peanut in it',
  ])('[G14] "%s" clearly matches something', async (question) => {
    expect((await hits(question))[0]?.isClear).toBe(true);
  });

  it('[G14] finds a manual change immediately', async () => {
    put('memory/hand.md', 'The parrot is called Rio.\n');
    expect((await hits('parrot'))[0]?.text).toContain('Rio');
    put('memory/hand.md', 'The parrot is called Kiwi now.\n');
    expect((await hits('parrot'))[0]?.text).toContain('Kiwi');
    rmSync(join(workspace.folder, 'memory/hand.md'));
    expect(await hits('parrot')).toEqual([]);
  });

  it('[G14] immediately finds what Parley saves, even when checking the files takes long', async () => {
    let now = 0;
    const slow = openMemorySearch(workspace, () => {
      now += 9;
      return now;
    });
    const view = workspace.for({ kind: 'owner', conversationId: 'c' });
    const find = async (question: string) => {
      const options = { conversation: 'c', session: 0, most: 5 };
      return (await slow.find(view, question, options)).map(({ text }) => text);
    };
    for (let round = 0; round < 3; round += 1) await find('tea');
    put('memory/project.md', '- The bridge is named Kestrel.\n');
    expect(await find('Kestrel')).toEqual(['The bridge is named Kestrel.']);
    rmSync(join(workspace.folder, 'memory/project.md'));
    expect(await find('Kestrel')).toEqual([]);
    // Manual changes are found a little later.
    put('memory/hand.md', 'The parrot is called Rio.\n');
    await expect.poll(() => find('parrot'), { interval: 5 }).toEqual(['The parrot is called Rio.']);
    rmSync(join(workspace.folder, 'memory/hand.md'));
  });

  it("[W02] finds only public passages for a guest, and none of the owner's private ones", async () => {
    expect((await hits('sencha', 'guest'))[0]?.text).toContain('seventy');
    for (const question of ['tea', 'Ann', 'Norway', 'dentist', '生日', 'boat Otter']) {
      const texts = (await hits(question, 'guest')).map(({ source }) => source);
      expect(texts.filter((source) => !source.startsWith('knowledge/'))).toEqual([]);
    }
  });

  it('[W03] no longer finds a passage for a guest after its file became private', async () => {
    put('knowledge/secret.md', 'The heron nests in the attic.\n');
    expect((await hits('heron', 'guest')).length).toBe(1);
    put('knowledge/secret.md', '---\naudience: owner\n---\nThe heron nests in the attic.\n');
    expect(await hits('heron', 'guest')).toEqual([]);
    expect((await hits('heron')).length).toBe(1);
  });

  it('[W03] does not show a passage that became private, even before the index is updated', async () => {
    let now = 0;
    const slow = openMemorySearch(workspace, () => {
      now += 100;
      return now;
    });
    const view = workspace.for({ kind: 'guest', conversationId: 'g' });
    const find = () => slow.find(view, 'kingfisher', { conversation: 'g', session: 0, most: 5 });
    put('knowledge/river.md', 'The kingfisher nests at the bend.\n');
    for (let round = 0; round < 3; round += 1) expect(await find()).toHaveLength(1);
    put('knowledge/river.md', '---\naudience: owner\n---\nThe kingfisher nests at the bend.\n');
    for (let round = 0; round < 3; round += 1) expect(await find()).toEqual([]);
  });

  it('[G14] [W07] finds the current text of a large file that has changed', async () => {
    const lines = Array.from({ length: 500 }, (_, nth) => `- The shelf number ${nth} holds pots.`);
    put('memory/project.md', [...lines, '- The last shelf holds a cormorant.'].join('\n'));
    expect((await hits('cormorant'))[0]?.text).toBe('The last shelf holds a cormorant.');
    put('memory/project.md', ['- The first shelf holds a cormorant.', ...lines].join('\n'));
    expect((await hits('cormorant'))[0]?.text).toBe('The first shelf holds a cormorant.');
    rmSync(join(workspace.folder, 'memory/project.md'));
  });

  it('[W04] finds a conversation’s memory only in that conversation', async () => {
    const { groupMemory } = workspace.for({ kind: 'guest', conversationId: 'g1' });
    put(groupMemory, '- The football match is on Sunday.\n');
    expect((await hits('football', 'guest', 'g1')).length).toBe(1);
    expect(await hits('football', 'guest', 'g2')).toEqual([]);
    expect(await hits('football', 'owner', 'c')).toEqual([]);
  });

  it("[G13] finds a session's memory only until the session ends", async () => {
    const from = 'channel=t chat=1 message=2 conversation=c session=4';
    const mark = `<!-- parley id=mabc123 type=fact scope=session words=own ${from} -->`;
    put('memory/session.md', `- The code word is marmalade. ${mark}\n`);
    const view = workspace.for({ kind: 'owner', conversationId: 'c' });
    const find = (conversation: string, session: number) =>
      search.find(view, 'marmalade', { conversation, session, most: 5 });
    expect((await find('c', 4)).length).toBe(1);
    expect(await find('c', 5)).toEqual([]);
    expect(await find('d', 4)).toEqual([]);
  });
});

const Word = fc.constantFrom('heron', 'egret', 'plover', '绿茶', '生日', 'Bäder', 'Garten', 'tea');
const Lines = fc.array(fc.array(Word, { minLength: 1, maxLength: 4 }), { maxLength: 8 });

function list(texts: readonly string[]): string {
  return texts.map((text) => `- ${text}`).join('\n');
}

function find(index: PassageIndex, question: string, most = 1_000) {
  return index.search(listQueryWords(question), most);
}

describe('indexed files', () => {
  it('[G14] [W07] are searched after random changes just as if they had been read again', () => {
    const Step = fc.record({
      name: fc.constantFrom('memory/user.md', 'memory/a.md'),
      lines: Lines,
    });
    fc.assert(
      fc.property(fc.array(Step, { minLength: 1, maxLength: 8 }), Word, (steps, question) => {
        const index = new PassageIndex(1_000);
        const last = new Map<string, string>();
        for (const { name, lines } of steps) {
          const text = list(lines.map((words) => words.join(' ')));
          index.put(name, text);
          last.set(name, text);
        }
        const fresh = new PassageIndex(1_000);
        for (const [name, text] of last) fresh.put(name, text);
        const found = (of: PassageIndex) =>
          find(of, question)
            .map(({ piece: { file, raw }, score }) => `${file.name} ${raw} ${score.toFixed(9)}`)
            .sort();
        expect(found(index)).toEqual(found(fresh));
        expect(index.size).toBe(fresh.size);
      }),
    );
  });

  it('[G14] keep all unchanged entries when a memory is saved, but no removed ones', () => {
    const index = new PassageIndex(10_000);
    const notes = Array.from({ length: 1_500 }, (_, nth) => `note ${nth}`);
    index.put('memory/user.md', list(notes));
    const [before] = find(index, 'note 7', 1);
    for (let saving = 0; saving < 20; saving += 1) {
      notes.push(`more ${saving}`);
      index.put('memory/user.md', list(notes));
    }
    expect(find(index, 'note 7', 1)[0]?.piece).toBe(before?.piece);
    expect(index.size).toBe(1_520);
    index.put('memory/user.md', '- only this');
    expect(index.size).toBe(1);
    expect(find(index, 'note more')).toEqual([]);
  });

  it('are searched only up to the maximum number of pieces', () => {
    const index = new PassageIndex(2);
    index.put('memory/user.md', '- heron one\n- heron two\n- heron three');
    expect(find(index, 'heron')).toHaveLength(2);
  });

  it('[G14] list the newer of two equal passages first, even with a small limit', () => {
    const index = new PassageIndex(1_000);
    index.put('memory/user.md', list(Array.from({ length: 100 }, (_, nth) => `heron a${nth}`)));
    const all = find(index, 'heron').map(({ piece }) => piece.raw);
    expect(all).toEqual(Array.from({ length: 100 }, (_, nth) => `- heron a${99 - nth}`));
    for (const most of [1, 3, 6]) {
      expect(find(index, 'heron', most).map(({ piece }) => piece.raw)).toEqual(all.slice(0, most));
    }
  });

  it('[G14] find longer words by their prefix, in whatever order the words were added', () => {
    const index = new PassageIndex(1_000);
    const words: string[] = [];
    for (let nth = 0; nth < 700; nth += 1) {
      words.push(`${nth % 20 === 0 ? 'tea' : 'x'}${(nth * 7919) % 1_000}`);
      if (nth % 50 !== 0) continue;
      index.put('memory/user.md', list(words));
      const longer = words.filter((word) => word.startsWith('tea')).map((word) => `- ${word}`);
      expect(
        find(index, 'tea')
          .map(({ piece }) => piece.raw)
          .sort(),
      ).toEqual(longer.sort());
    }
  });
});

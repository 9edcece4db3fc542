import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type ModelDouble, type ModelFault, startModelDouble } from '../model/index.ts';
import { startParleyInProcess, type TestParley } from './parley-here.ts';
import { type DataFolder, makeDataFolder, writeSettings } from './parley-process.ts';
import { mountSmallDisk, type SmallDisk } from './small-disk.ts';
import { createWebClient, type WebClient } from './web-client.ts';

let model: ModelDouble;
let folder: DataFolder;
let parley: TestParley;
let web: WebClient;
beforeAll(async () => {
  model = await startModelDouble({ reply: () => 'a good answer' });
  folder = makeDataFolder({
    http: { port: 0 },
    lanes: { collectPauseMs: 0 },
    model: {
      provider: 'openai-compatible',
      baseUrl: model.baseUrl,
      model: 'double',
      timeouts: { firstTokenMs: 2_000, chunkMs: 2_000, totalMs: 5_000 },
    },
  });
  parley = await startParleyInProcess(folder.path);
  web = createWebClient(parley);
});
afterAll(async () => {
  await parley.discard();
  await model.close();
  folder.remove();
});

/**
 * Sends a message and returns the chat entries from that message on, once there are `lines` of
 * them.
 */
async function ask(text: string, lines = 2): Promise<readonly string[]> {
  const before = (await web.history()).length;
  await web.post(text);
  const after = async () => (await web.history()).slice(before);
  await expect.poll(after).toHaveLength(lines);
  return after();
}

const expectGoodAnswer = async () => {
  model.clearFaults();
  expect(await ask('all well?')).toEqual(['> all well?', '<p>a good answer</p>']);
};

describe('an unusual message', () => {
  it('[D07] is refused with its length and the limit, and not stored, when it has 1 MB', async () => {
    const asked = model.total;
    const { status, body } = await web.post('x'.repeat(1_000_000));
    expect(status).toBe(200);
    expect(body).toContain('refused');
    await expect
      .poll(web.history)
      .toEqual([expect.stringContaining('1000000 characters, but I can read only 32000 at once')]);
    expect(model.total).toBe(asked);
    await expectGoodAnswer();
  });

  it('[D07] is refused before it is read when it has 5 MB', async () => {
    const { status, body } = await web.post('x'.repeat(5_000_000));
    expect(status).toBe(413);
    expect(body).toContain('larger than 4 MB');
  });

  it('is refused with a reason, instead of being changed, when it is not UTF-8', async () => {
    const bytes = Buffer.concat([
      Buffer.from('{"id":"12345678","text":"'),
      Buffer.from([0xc3, 0x28]),
      Buffer.from('"}'),
    ]);
    const { status, body } = await web.post('', bytes);
    expect(status).toBe(400);
    expect(body).toContain('not valid UTF-8');
  });

  it.each([
    ['not JSON', 'hello'],
    ['JSON without a text', '{"id":"12345678"}'],
    ['a list', '[]'],
    ['an id with a path', '{"id":"../../../etc","text":"x"}'],
  ])('is refused when it is %s', async (_case, body) => {
    expect((await web.post('', body)).status).toBe(400);
  });

  it('is answered like any other when it contains control characters, unpaired surrogates and right-to-left marks', async () => {
    const text = '\u0000\u0007 \ud83d \u202egnitirw \u{1f9d1}\u200d\u{1f680}';
    expect((await ask(text)).at(-1)).toBe('<p>a good answer</p>');
  });
});

describe('a model that fails', () => {
  it.each<[string, ModelFault, string]>([
    ['hangs', { kind: 'hang' }, 'took too long to begin its answer'],
    ['stops in the middle', { kind: 'stall', afterPieces: 1 }, 'stopped in the middle'],
    ['answers with a web page', { kind: 'html' }, 'not a model’s answer'],
    ['answers with rubbish', { kind: 'malformed-sse' }, 'not a model’s answer'],
    ['answers with nothing', { kind: 'empty-stream' }, 'empty answer'],
    ['answers with no text', { kind: 'no-text' }, 'empty answer'],
    ['breaks off', { kind: 'cut', afterPieces: 1 }, 'broke off'],
    ['refuses the key', { kind: 'status', status: 401 }, 'refused the key'],
    ['has no such model', { kind: 'status', status: 404 }, 'does not have the model'],
    ['is overloaded', { kind: 'status', status: 503 }, 'overloaded'],
  ])(
    '[G01] is reported to the owner when it %s, and no message is lost',
    async (_case, fault, words) => {
      model.fault(fault, 1_000);
      const [question, notice, ...rest] = await ask('are you there?');
      expect(question).toBe('> are you there?');
      expect(rest).toEqual([]);
      expect(notice).toContain('⚙️');
      expect(notice?.replaceAll(/&#39;|'/g, '’')).toContain(words);
      await expectGoodAnswer();
      expect(JSON.stringify(model.requests.at(-1)?.body.messages)).toContain('are you there?');
    },
  );

  it('[G01] is reported to the owner when it refuses the connection', async () => {
    await model.close();
    const [, notice] = await ask('anyone?');
    expect(notice).toContain('cannot be reached at 127.0.0.1');
    model = await startModelDouble({
      port: Number(new URL(model.baseUrl).port),
      reply: () => 'a good answer',
    });
    await expectGoodAnswer();
  });
});

describe.runIf(inject('mountPath'))('a full disk', () => {
  let disk: SmallDisk;
  let crowded: TestParley;
  let page: WebClient;
  const answer = Promise.withResolvers<string>();
  const FULL = 'is full; nothing was written. Free some space on it.';
  const ready = async (): Promise<string> => {
    const response = await fetch(`${crowded.address}/readyz`);
    return `${response.status} ${(await response.text()).trim()}`;
  };
  beforeAll(async () => {
    model.reply(({ messages }) =>
      JSON.stringify(messages.at(-1)).includes('hold on') ? answer.promise : 'a good answer',
    );
    const { baseUrl } = model;
    disk = mountSmallDisk();
    writeSettings(disk.path, {
      http: { port: 0 },
      model: { provider: 'openai-compatible', baseUrl, model: 'double' },
    });
    crowded = await startParleyInProcess(disk.path);
    page = createWebClient(crowded);
  });
  afterAll(async () => {
    await crowded.discard();
    disk.remove();
  });

  it('[D01] [D10] refuses new messages, reports that it is not ready, keeps existing data, and continues once there is space', async () => {
    await page.post('first');
    await expect.poll(page.history).toHaveLength(2);
    disk.fill();
    expect(await ready()).toBe('503 down: the disk that holds the database is full');
    const refused = await page.post(`second ${'x'.repeat(30_000)}`);
    expect(refused.status).toBe(503);
    expect(refused.body).toContain('Please try again');
    expect(crowded.err()).toContain(FULL);
    disk.empty();
    expect(await ready()).toBe('200 ready');
    expect((await page.post('third')).status).toBe(200);
    await expect
      .poll(page.history)
      .toEqual(['> first', '<p>a good answer</p>', '> third', '<p>a good answer</p>']);
  });

  it('[D04] delays an answer when it fills up in the middle of the answer, which is sent once', async () => {
    const asked = model.total;
    await page.post('hold on');
    await expect.poll(() => model.total).toBe(asked + 1);
    // An outage that ends and immediately starts again is logged in one line.
    await expect.poll(() => crowded.err()).toContain('parley.db: works again');
    const said = crowded.err().length;
    disk.fill();
    answer.resolve(`a long answer ${'x'.repeat(100_000)}`);
    await expect.poll(() => crowded.err().slice(said)).toContain(FULL);
    disk.empty();
    const answers = async () => (await page.history()).filter((line) => line.includes('long'));
    await expect.poll(answers).toHaveLength(1);
    await crowded.end();
    crowded = await startParleyInProcess(disk.path);
    page = createWebClient(crowded);
    expect(await answers()).toHaveLength(1);
  });
});

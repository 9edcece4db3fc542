import type { McpServers } from '@parley/tools/mcp';
import { afterEach, describe, expect, it } from 'vitest';
import {
  connectMcpServer,
  type QuestionRounds,
  startElicitingServer,
} from '../../testing/asking-server.ts';
import { createCrashableStore, type StoreCrash } from '../../testing/crashing-store.ts';
import {
  createScriptedModel,
  listToolMessages,
  openTurnScene,
  type ScriptedModel,
  type TurnScene,
} from '../../testing/turn-scene.ts';
import { decideAsOwner, OWNER_CHAT, PLACE, runAsCommand } from '../../testing/write-message.ts';
import { createMcpTools, type McpRules } from '../mcp-tools.ts';

type Stage = Awaited<ReturnType<typeof stage>>;

let open: Stage | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});

const CALL = { calls: [{ name: 'desk_book', with: { room: 'blue' } }] };
const GROUP = { id: '-9', type: 'group', title: 'Team' } as const;
const BO = { id: '7', name: 'Bo', isBot: false };
const MINUTE = 60_000;

const form = (
  properties: object,
  required: readonly string[] = [],
  message = 'How shall it be?',
) => ({
  method: 'elicitation/create',
  params: { mode: 'form', message, requestedSchema: { type: 'object', properties, required } },
});
const once = (request: object): QuestionRounds => [{ requests: { r1: request }, state: 'state 1' }];
const NAME = form({ name: { type: 'string', title: 'Your name' } }, ['name']);

/** Opens an owner's turn that uses a real MCP server, with a new connection for each process. */
async function stage(
  rounds: QuestionRounds,
  {
    model,
    approval = 'never',
  }: Partial<Pick<McpRules, 'approval'>> & {
    readonly model?: Pick<ScriptedModel, 'id' | 'stream'>;
  } = {},
) {
  const server = await startElicitingServer(rounds);
  let servers: McpServers = await connectMcpServer(server.url);
  const rules = {
    tools: { block: [] },
    audience: 'everyone',
    approval,
    timeoutMs: 5_000,
  } as const;
  const current: Pick<McpServers, 'views' | 'call' | 'resources' | 'resource'> = {
    views: () => servers.views(),
    call: (...asked) => servers.call(...asked),
    resources: (...asked) => servers.resources(...asked),
    resource: (...asked) => servers.resource(...asked),
  };
  const live = createMcpTools({ servers: current, rules: { desk: rules } });
  const scene: TurnScene = await openTurnScene({}, { live, ...(model !== undefined && { model }) });
  return {
    server,
    scene,
    async begin(chat?: typeof GROUP) {
      await scene.write('book it', chat && { chat, sender: BO });
      scene.model.next(CALL);
      await scene.answerNext(chat?.id);
    },
    async restart() {
      await servers.close();
      servers = await connectMcpServer(server.url);
    },
    async asked() {
      const parts = await scene.store.outbox.recent({ ...PLACE, chatId: OWNER_CHAT }, 99);
      const buttons = parts.at(-1)?.part.buttons?.map(({ label }) => label) ?? [];
      const last = parts.slice(parts.slice(0, -1).findLastIndex(({ part }) => part.buttons) + 1);
      return { text: last.map(({ part }) => part.body.plain).join('\n'), buttons };
    },
    /**
     * Answers for the person, with a button or `/answer`, and runs the turn until it waits again or
     * ends.
     */
    async answer(code: number, text: string) {
      const given = { code: `CODE${code}`, by: 'test:1', text };
      const verdict = await runAsCommand(scene.store, (one) => one.answerQuestion(given));
      expect(verdict?.kind).toBe('answered');
      await scene.answerNext();
    },
    /** Gives the person's answer in a process whose servers are not connected. */
    async goOnWithout(text: string) {
      await runAsCommand(scene.store, (one) =>
        one.answerQuestion({ code: 'CODE1', by: 'test:1', text }),
      );
      await servers.close();
      await scene.answerNext();
      return listToolMessages(scene.model.asked.at(-1))
        .map(({ content }) => content)
        .join();
    },
    told: () =>
      listToolMessages(scene.model.asked.at(-1))
        .map(({ content }) => content)
        .join(),
    async close() {
      await servers.close();
      server.close();
      await scene.close();
    },
  };
}

describe('an MCP server that asks a question during a call', () => {
  it('[G03] [G16] asks field by field, across restarts, and receives the answers together with its state', async () => {
    const when = { type: 'string', format: 'date', description: 'The day, not the hour.' };
    const size = {
      type: 'string',
      oneOf: [
        { const: 's', title: 'Small' },
        { const: 'l', title: 'Large' },
      ],
    };
    const extras = {
      type: 'array',
      minItems: 1,
      items: { type: 'string', enum: ['tea', 'cake', 'milk'] },
    };
    const properties = {
      ...{ when, size, extras, people: { type: 'integer', minimum: 2, maximum: 9 } },
      ...{ quiet: { type: 'boolean', title: 'Quiet?' }, note: { type: 'string' } },
      lamp: { type: 'string', enum: ['on', 'off'], default: 'off' },
    };
    open = await stage(once(form(properties, ['when', 'size', 'extras', 'people', 'quiet'])));
    const { server, scene } = open;
    await open.begin();
    expect(scene.outcome()).toBe('suspended');
    const first = await open.asked();
    expect(first.text).toContain(
      'The server desk, whose tool book I am using, has a question for you.',
    );
    expect(first.text).toContain('> How shall it be?');
    expect(first.text).toContain('Never enter a password');
    expect(first.text).toContain('> The day, not the hour.');
    expect(first.buttons).toEqual(['Decline']);
    await open.restart();
    await open.answer(1, '2026-02-30');
    expect((await open.asked()).text).toContain('I need a date like 2026-11-27');
    await open.answer(2, '2026-11-30');
    expect((await open.asked()).buttons).toEqual(['Small', 'Large', 'Decline']);
    await open.answer(3, '2');
    await open.restart();
    await open.answer(4, '1 and 3');
    await open.answer(5, '12');
    expect((await open.asked()).text).toContain('That is not a valid answer: that is more than 9');
    await open.answer(6, '4');
    await open.answer(7, 'no');
    await open.answer(8, 'skip');
    expect((await open.asked()).text).toContain('skip accepts the server’s proposal: off');
    await open.answer(9, 'skip');
    const review = await open.asked();
    expect(review.text).toContain('size: Large');
    expect(review.text).toContain('note: left out');
    expect(server.calls.length).toBe(1);
    await open.answer(10, 'yes');
    expect(scene.outcome()).toBe('answered');
    const content = {
      when: '2026-11-30',
      size: 'l',
      extras: ['tea', 'milk'],
      people: 4,
      quiet: false,
      lamp: 'off',
    };
    const capabilities = { elicitation: { form: {}, url: {} } };
    expect(server.calls).toEqual([
      { arguments: { room: 'blue' }, capabilities },
      {
        ...{ arguments: { room: 'blue' }, capabilities, requestState: 'state 1' },
        inputResponses: { r1: { action: 'accept', content } },
      },
    ]);
    expect(open.told()).toContain('It is done.');
    expect(open.told()).not.toContain('got no answer');
  });

  it('[G03] [D03] accepts a message as the answer, and the message joins the turn', async () => {
    open = await stage(once(NAME));
    await open.begin();
    await open.scene.write('Ada *Lovelace*');
    await open.scene.answerNext();
    const content = { name: 'Ada *Lovelace*' };
    expect(open.server.acts[0]?.inputResponses).toEqual({ r1: { action: 'accept', content } });
  });

  it('[G03] may ask a second question, with new state', async () => {
    const again = form({ sure: { type: 'boolean' } }, ['sure'], 'Sure?');
    open = await stage([...once(NAME), { requests: { r2: again }, state: 'state 2' }]);
    await open.begin();
    await open.answer(1, 'Ada');
    expect((await open.asked()).text).toContain('> Sure?');
    await open.restart();
    await open.answer(2, 'yes');
    expect(open.server.acts).toMatchObject([
      {
        requestState: 'state 2',
        inputResponses: { r2: { action: 'accept', content: { sure: true } } },
      },
    ]);
  });

  it('[G03] [G05] asks its question after the call was approved, and the approval is requested only once', async () => {
    open = await stage(once(NAME), { approval: 'ask' });
    const { scene, server } = open;
    await open.begin();
    expect(server.calls).toEqual([]);
    await decideAsOwner(scene.store, 'approved');
    await scene.answerNext();
    await open.answer(2, 'Ada');
    expect(server.acts.length).toBe(1);
    expect((await scene.store.approvals.recent(9)).map(({ state }) => state)).toEqual(['approved']);
  });

  it('[G03] is not called again if its tools have disappeared when the answer arrives', async () => {
    open = await stage(once(NAME));
    await open.begin();
    const { scene, server } = open;
    const turn = await open.goOnWithout('Ada');
    expect(turn).toContain('desk_book waited for a person and is no longer available');
    expect([scene.outcome(), server.calls.length]).toEqual(['answered', 1]);
  });

  it.each([
    ['skip', 'decline', 'the person declined'],
    ['Decline', 'decline', 'the person declined'],
    ['cancel', 'cancel', 'the person cancelled it'],
  ])('[G03] receives %s as “%s”, and the model is told about it', async (text, action, note) => {
    open = await stage(once(NAME));
    await open.begin();
    await open.answer(1, text);
    expect(open.server.acts[0]?.inputResponses).toEqual({ r1: { action } });
    expect(open.told()).toContain(
      `During this call desk asked for something, and got no answer: ${note}. Do not answer in its place.`,
    );
  });

  it('[G03] receives a cancellation after three invalid answers and after the deadline', async () => {
    open = await stage(once(form({ people: { type: 'integer' } }, ['people'])));
    await open.begin();
    for (const [nth, text] of ['four', '1,500', '2.5'].entries()) await open.answer(nth + 1, text);
    expect(open.server.acts[0]?.inputResponses).toEqual({ r1: { action: 'cancel' } });
    await open.begin();
    open.scene.later(16 * MINUTE);
    await open.scene.store.approvals.expire(open.scene.now());
    await open.scene.answerNext();
    expect(open.server.acts[1]?.inputResponses).toEqual({ r1: { action: 'cancel' } });
    expect(open.told()).toContain('did not answer within 15 minutes');
  });

  it('[G03] [W02] accepts an answer in a group only from the person for whom the turn runs', async () => {
    open = await stage(once(NAME));
    await open.begin(GROUP);
    const by = async (person: string) => {
      const given = { code: 'CODE1', text: 'Eve', by: person };
      const store = open?.scene.store ?? never();
      return (await runAsCommand(store, (one) => one.answerQuestion(given), '-9'))?.kind;
    };
    expect(await by('test:1')).toBe('others');
    expect(await by('test:7')).toBe('answered');
  });

  it('[G03] receives a refusal if no person is waiting for the turn', async () => {
    open = await stage(once(NAME));
    const { scene } = open;
    await scene.store.inbox.accept(timed(scene.now()));
    scene.model.next(CALL);
    await scene.answerNext();
    expect(scene.outcome()).toBe('answered');
    expect(open.server.acts[0]?.inputResponses).toEqual({ r1: { action: 'decline' } });
    expect(open.told()).toContain('no person waits for this turn');
  });

  it.each([
    ['a password', form({ password: { type: 'string' } }), 'must never ask for secrets'],
    ['a key', form({ k: { type: 'string', title: 'API key' } }), 'must never ask for secrets'],
    ['a nested form', form({ a: { type: 'object' } }), 'has an unknown type'],
    ['a script', url('javascript:alert(1)'), 'not safe to show'],
    [
      'an address with a name before its host',
      url('https://bank.example@evil.test/'),
      'not safe to show',
    ],
  ])('[G03] [P18] does not show %s to the person', async (_what, request, reason) => {
    open = await stage(once(request));
    await open.begin();
    expect(open.scene.outcome()).toBe('answered');
    expect(open.server.acts[0]?.inputResponses).toEqual({ r1: { action: 'decline' } });
    expect(open.told()).toContain(reason);
  });

  it('[G03] [P18] shows an address with its host, and waits until the person is done there', async () => {
    open = await stage(once(url('http://sign.example.org/in?x=1')));
    await open.begin();
    const { text, buttons } = await open.asked();
    expect(text).toContain('Its host is sign.example.org');
    expect(text).toContain('http://sign.example.org/in?x=1');
    expect(text).toContain('is not encrypted');
    expect(buttons).toEqual(['Done', 'Decline']);
    await open.answer(1, '1');
    expect(open.server.acts[0]?.inputResponses).toEqual({ r1: { action: 'accept' } });
  });
});

/** Every write of both processes, and one number that neither process reaches. */
const DEATHS = [0, 1].flatMap((life) =>
  [1, 2, 3, 4, 5].flatMap((write) =>
    (['before', 'after'] as const).map((when) => ({ life, write, when })),
  ),
);

describe('a process that dies around a call that needs a person’s answer', () => {
  it.each(DEATHS)(
    '[G03] [G16] in run $life, dying $when write $write: the server acts at most once',
    async (death) => {
      const model = createScriptedModel();
      open = await stage(once(NAME), { model: { id: model.id, stream: obedient(model) } });
      const { scene, server } = open;
      const store = createCrashableStore(scene.store);
      await scene.write('book it');
      const isOver = async () => (await scene.owed()).includes('Done.');
      const lives: (StoreCrash | null)[] = [null, null, null, null];
      lives[death.life] = death;
      for (const life of lives) {
        if (await isOver()) break;
        store.live(life);
        const started = await scene.begin();
        await scene.run(started).catch((error: Error) => expect(error.message).toBe('killed'));
        await scene.store.lanes.release(started.lease);
        const waiting = await scene.store.approvals.of(started.turn.turnId, questionKey(started));
        if (waiting?.state !== 'pending') continue;
        const given = { code: waiting.code, by: 'test:1', text: 'Ada' };
        await runAsCommand(scene.store, (one) => one.answerQuestion(given));
      }
      expect(await isOver()).toBe(true);
      const told = listToolMessages(model.asked.at(-1)).map(({ content }) => content);
      const isUncertain = told.join().includes('It is not known whether it took effect');
      expect(server.acts.length).toBeLessThanOrEqual(1);
      if (!isUncertain) expect(server.acts).toMatchObject([{ requestState: 'state 1' }]);
      for (const { inputResponses } of server.acts)
        expect(inputResponses).toEqual({ r1: { action: 'accept', content: { name: 'Ada' } } });
    },
  );
});

function questionKey({ turn }: { readonly turn: { readonly turnId: string } }): string {
  return `${turn.turnId}.0.0.ask.1.0.0.0`;
}

/** A model that repeats the call until it receives a result. */
function obedient(model: ScriptedModel): ScriptedModel['stream'] {
  return (request, signal) => {
    model.next(listToolMessages(request).length > 0 ? { say: 'Done.' } : CALL);
    return model.stream(request, signal);
  };
}

function url(address: string) {
  const params = { mode: 'url', message: 'Please sign in.', url: address, elicitationId: 'e' };
  return { method: 'elicitation/create', params };
}

function never(): never {
  throw new Error('nothing is open');
}

function timed(now: number) {
  const target = { dialect: 'plain', maxLength: 200, unit: 'utf16' } as const;
  return {
    conversationId: OWNER_CHAT,
    route: { ...PLACE, chatId: OWNER_CHAT, target },
    receivedAt: now,
    message: {
      ...PLACE,
      ...{ messageId: 'job', chat: { id: OWNER_CHAT, type: 'direct' as const } },
      ...{ sender: { id: '1', name: 'Ada', isBot: false }, text: 'book it', mentions: [] },
      ...{ addressed: true, sentAt: 0, variables: {}, trigger: 'cron' as const },
    },
  };
}

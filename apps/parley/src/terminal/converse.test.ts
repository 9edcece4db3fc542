import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { runConversation } from './converse.ts';
import type { ChatEvent, ChatHistory, GatewayClient, GatewayListener } from './gateway-client.ts';
import { FakeTerminal } from './testing/fake-terminal.ts';

// Node does not echo the typed line on a `dumb` terminal, which some editors use.
beforeEach(() => void vi.stubEnv('TERM', 'xterm'));
afterEach(() => void vi.unstubAllEnvs());

/** Opens a chat on a small terminal with a scripted gateway. */
async function scene(options: { history?: ChatHistory; columns?: number; rows?: number } = {}) {
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => input });
  const terminal = new FakeTerminal(options.columns, options.rows);
  const ended = new AbortController();
  const sent: string[] = [];
  let listener: GatewayListener | undefined;
  let history = options.history ?? [];
  let answers: (text: string) => Promise<string> = async (text) =>
    text.startsWith('/') ? 'command' : 'accepted';
  const client: GatewayClient = {
    async send(text) {
      sent.push(text);
      return { id: text, kind: await answers(text), reason: undefined };
    },
    history: async () => history,
    async watch(given) {
      listener = given;
      await given.linked();
      await new Promise((resolve) => ended.signal.addEventListener('abort', resolve));
    },
  };
  const running = runConversation({
    client,
    // The stream implements everything that `readline` uses.
    input: input as unknown as NodeJS.ReadStream,
    output: terminal as unknown as NodeJS.WriteStream,
    colour: false,
    ended,
  });
  await vi.waitFor(() => expect(terminal.text).toContain('›'), 30_000);
  const settle = () => new Promise((resolve) => setTimeout(resolve, 60));
  return {
    terminal,
    sent,
    running,
    settle,
    async type(keys: string) {
      input.write(keys);
      await settle();
    },
    tell: (event: ChatEvent) => listener?.event(event),
    lose: () => listener?.lost(),
    async comeBack(now: ChatHistory) {
      history = now;
      await listener?.linked();
    },
    answerWith(next: typeof answers) {
      answers = next;
    },
    /** Returns the text after the welcome message. */
    said: () => terminal.text.split('he chat.\n\n')[1] ?? terminal.text,
  };
}
const part = (text: string, turnId: string | null = 't1', partId = text) =>
  ({ type: 'part', partId, turnId, text }) as const;
const stream = (text: string) => ({ type: 'stream', turnId: 't1', text }) as const;

describe('a chat in the terminal', () => {
  it('[F03] [F12] shows the growing answer above the typed text, and keeps the final text', async () => {
    const { type, tell, said, sent } = await scene();
    await type('hello\r');
    expect(sent).toEqual(['hello']);
    expect(said()).toBe('› hello\n… thinking (Ctrl-C stops)\n›');
    tell(stream('It gro'));
    await type('next quest');
    tell(stream('It grows and grows and does not fit into one row'));
    expect(said()).toBe(
      '› hello\nIt grows and grows and does not fit\ninto one row\n… thinking (Ctrl-C stops)\n› next quest',
    );
    await type('ion');
    tell({ type: 'stream-end', turnId: 't1' });
    tell(part('It grew.'));
    expect(said()).toBe('› hello\nIt grew.\n\n› next question');
  });

  it('[F12] keeps earlier output intact above a long answer', async () => {
    const { type, tell, terminal } = await scene({ rows: 8 });
    await type('tell me\r');
    const lines = Array.from({ length: 40 }, (_, index) => `line ${index}`);
    for (let count = 1; count <= 40; count += 1) tell(stream(lines.slice(0, count).join('\n')));
    tell(part(lines.join('\n')));
    const text = terminal.text;
    expect(text.match(/› tell me/g)).toHaveLength(1);
    expect(text.endsWith(`${lines.join('\n')}\n\n›`)).toBe(true);
  });

  it('keeps a wrapped input line intact while output is written above it', async () => {
    const { type, tell, said } = await scene();
    const long = 'words that wrap over several rows '.repeat(3).trim();
    await type(long);
    tell(part('one', null));
    tell(part('two', null));
    expect(said().replaceAll('\n', '|')).toBe(
      `one||two||${`› ${long}`
        .match(/.{1,40}/g)
        ?.map((row) => row.trimEnd())
        .join('|')}`,
    );
    await type('\r');
    expect(said().match(/› words/g)).toHaveLength(1);
  });

  it('shows an answer once, even if the history is reloaded and contains it again', async () => {
    const { tell, lose, comeBack, said, type } = await scene({ history: [part('old', 't0')] });
    tell(part('first'));
    lose();
    await type('');
    expect(said()).toContain('the gateway is unreachable');
    await comeBack([part('old', 't0'), part('first'), part('meanwhile', 't2')]);
    expect(said()).toBe('first\n\nmeanwhile\n\n›');
  });

  it('[F09] Ctrl-C stops a running answer, or ends the chat if nothing is running', async () => {
    const { type, tell, sent, running } = await scene();
    await type('long\r');
    await type('\u0003');
    expect(sent).toEqual(['long', '/stop']);
    tell({ type: 'stream-end', turnId: 't1' });
    await type('\u0003');
    await running;
  });

  it('[F09] sends /stop ahead of a message that cannot be sent', async () => {
    const { type, tell, sent, answerWith } = await scene();
    answerWith((text) =>
      text === '/stop' ? Promise.resolve('command') : new Promise(() => undefined),
    );
    await type('one\r');
    await type('two\r');
    tell({ type: 'typing' });
    await type('\u0003');
    expect(sent).toEqual(['one', '/stop']);
  });

  it('[D02] sends messages written while the gateway is unreachable, in their original order', async () => {
    const { type, sent, answerWith } = await scene();
    const { promise, resolve } = Promise.withResolvers<string>();
    answerWith(() => promise);
    await type('one\r');
    await type('two\r');
    expect(sent).toEqual(['one']);
    resolve('accepted');
    await type('');
    expect(sent).toEqual(['one', 'two']);
  });

  it('[D01] prints unsent messages when the chat ends, so that they are not lost', async () => {
    const { type, running, answerWith, terminal } = await scene();
    answerWith(() => new Promise(() => undefined));
    await type('important\r');
    await type('\u0004');
    await running;
    expect(terminal.text).toMatch(/Not sent:\nimportant$/);
  });

  it.each([
    ['marked by the terminal', '\u001b[200~one\rtwo\rthree\u001b[201~', '\r'],
    ['that arrives all at once', 'one\rtwo\rthree\r', ''],
  ])('sends several pasted lines %s as one message', async (_how, paste, enter) => {
    const { type, sent } = await scene();
    await type(paste);
    await type(enter);
    expect(sent).toEqual(['one\ntwo\nthree']);
  });

  it('ignores terminal control sequences in an answer', async () => {
    const { tell, terminal } = await scene();
    tell(part('before\u001b[2J\u001b[1;1Hafter'));
    expect(terminal.text).toContain('beforeafter');
  });
});

import { describe, expect, it } from 'vitest';
import { createLogger, type LoggerOptions } from './logger.ts';
import { openSecrets } from './scrubber.ts';

function collect(options: Partial<LoggerOptions> = {}) {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const log = createLogger({
    level: 'debug',
    format: 'json',
    scrub: openSecrets().scrubLog,
    destination,
    ...options,
  });
  const parsed = (): unknown[] => lines.map((line) => JSON.parse(line));
  return { log, lines, parsed };
}

describe('createLogger writing JSON', () => {
  it('[D10] writes one object per line: time, level as a word, facts, message', () => {
    const { log, lines, parsed } = collect();
    log.info({ conversation: 'c1', waitedMs: 12 }, 'turn started');
    expect(parsed()).toEqual([
      {
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        level: 'info',
        conversation: 'c1',
        waitedMs: 12,
        msg: 'turn started',
      },
    ]);
    expect(lines[0]).toMatch(/[^\n]\n$/);
  });

  it('adds the facts of a child to each of its lines', () => {
    const { log, parsed } = collect();
    log.child({ channel: 'telegram' }).child({ account: 'work' }).warn({}, 'slow');
    expect(parsed()).toEqual([
      expect.objectContaining({ channel: 'telegram', account: 'work', level: 'warn' }),
    ]);
  });

  it('respects its level', () => {
    const { log, lines } = collect({ level: 'warn' });
    log.debug({}, 'a');
    log.info({}, 'b');
    log.child({ x: 1 }).info({}, 'c');
    log.error({}, 'd');
    expect(lines).toHaveLength(1);
    const silent = collect({ level: 'silent' });
    silent.log.error({}, 'nobody hears');
    expect(silent.lines).toEqual([]);
  });

  it('[D10] removes secrets from messages, facts, children, and the stacks of errors and their causes', () => {
    const { log, lines } = collect({ scrub: openSecrets(['hunter2!']).scrubLog });
    const error = new Error('401 at /hunter2!/x', { cause: new TypeError('hunter2! again') });
    log
      .child({ url: 'http://x/?k=hunter2!' })
      .error({ err: error, deep: [{ p: 'hunter2!' }] }, 'hunter2!');
    expect(lines.join('')).not.toContain('hunter2');
    expect(lines.join('').match(/\[secret\]/g)?.length).toBeGreaterThanOrEqual(6);
  });

  it('[D10] stays valid JSON if a secret is part of a number or spans syntax', () => {
    const { log, parsed } = collect({ scrub: openSecrets(['123456', '","b":"']).scrubLog });
    log.info({ id: 91234567, a: 'x', b: 'y' }, 'n');
    expect(parsed()).toEqual([expect.objectContaining({ id: '[secret]', msg: 'n' })]);
  });

  it('[D10] keeps the facts of an error that operators need, but not the request attached to it', () => {
    const { log, parsed } = collect();
    const error = Object.assign(new RangeError('no'), {
      code: 'too-far',
      on: { payload: { text: 'private words' } },
    });
    log.error({ failure: error, err: error }, 'failed');
    const plain = {
      type: 'RangeError',
      message: 'no',
      code: 'too-far',
      stack: expect.stringContaining('logger.test.ts'),
    };
    expect(parsed()).toEqual([expect.objectContaining({ failure: plain, err: plain })]);
  });

  it('keeps its own time, level and message separate from facts with the same name', () => {
    const { log, parsed } = collect();
    log.info({ time: 1, level: 2, msg: 3 }, 'm');
    expect(parsed()).toEqual([
      expect.objectContaining({ level: 'info', msg: 'm', time_: 1, level_: 2, msg_: 3 }),
    ]);
  });

  it('[U03] escapes invisible characters without changing the JSON', () => {
    const { log, lines, parsed } = collect();
    const name = 'Bo\u202e\u2067\u{e0041}👩‍🚀\n';
    log.info({ name }, name);
    expect(lines.join('').trimEnd()).not.toMatch(/[\p{Cc}\u202e\u2067\u{e0041}]/u);
    expect(lines.join('')).toContain('👩‍🚀');
    expect(parsed()).toEqual([expect.objectContaining({ name, msg: name })]);
  });

  it('handles circular facts, big integers and throwing getters', () => {
    const { log, lines } = collect();
    const circle: Record<string, unknown> = { big: 10n };
    circle.self = circle;
    const broken = { toJSON: () => Promise.reject.call(null) };
    log.info({ circle, broken }, 'odd');
    expect(lines).toHaveLength(1);
  });
});

describe('createLogger writing for people', () => {
  const pretty = (options: Partial<LoggerOptions> = {}) =>
    collect({ format: 'pretty', ...options });

  it('writes time, level, message and facts on one line', () => {
    const { log, lines } = pretty();
    log.warn({ chat: 'a b', count: 2, list: [1] }, 'slow chat');
    expect(lines).toEqual([
      expect.stringMatching(
        /^\d\d:\d\d:\d\d\.\d{3} warn {2}slow chat chat="a b" count=2 list=\[1\]\n$/,
      ),
    ]);
  });

  it('[D10] escapes text that could forge a line, move the cursor or reverse the text', () => {
    const { log, lines } = pretty();
    log.info(
      { name: 'x\n00:00 ERROR fake', evil: '\u009B2J\u202Eabc', '\u001Bk': 1 },
      'hi\u001B[2J\r\nthere',
    );
    expect(lines).toHaveLength(1);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: their absence is the point.
    expect(lines[0]?.slice(0, -1)).not.toMatch(/[\u0000-\u001F\u007F-\u009F\u202E]/);
    expect(lines[0]).toContain('hi\\u001b[2J\\u000d\\u000athere');
  });

  it('shows the stack of an unexpected error, and only the message of an expected error', () => {
    const { log, lines } = pretty();
    log.error({ err: new TypeError('oops', { cause: new Error('why') }) }, 'crashed');
    log.error({ err: Object.assign(new Error('told'), { code: 'known' }) }, 'failed');
    expect(lines[0]).toMatch(/crashed err="TypeError: oops ← why"\n {4}at .*logger\.test\.ts/);
    expect(lines[1]).toMatch(/^\S+ ERROR failed err="Error: told"\n$/);
  });

  it('[D10] removes secrets that JSON escaped', () => {
    const { log, lines } = pretty({ scrub: openSecrets(['pass"word\n1']).scrubLog });
    log.info({ a: 'pass"word\n1', err: new Error('with pass"word\n1') }, 'in pass"word\n1');
    expect(lines.join('')).not.toMatch(/pass|word/);
  });

  it('uses colors only on request', () => {
    const { log, lines } = pretty({ colour: true });
    log.info({ a: 1 }, 'x');
    expect(lines[0]).toContain('\u001B[36minfo \u001B[0m x');
  });
});

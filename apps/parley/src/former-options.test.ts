import { Command, Option } from 'commander';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { printCompletion } from './commands/completion.ts';
import { acceptFormerOptions } from './former-options.ts';
import { main } from './main.ts';
import { createProgram } from './program.ts';
import { type CapturedOutput, captureOutput } from './testing/captured-output.ts';

let written: CapturedOutput;
beforeEach(() => {
  written = captureOutput();
});
afterEach(() => void vi.restoreAllMocks());

const FORMER = [
  ['logs', ['--last', '5'], ['--limit', '5']],
  ['dead list', ['--last', '5'], ['--limit', '5']],
  ['dead', ['--last', '5'], ['--limit', '5']],
  ['approvals', ['--last', '5'], ['--limit', '5']],
  ['dead replay 7', ['--even-twice'], ['--allow-duplicates']],
  ['restore file.tar.gz', ['--go-on'], ['--continue']],
  ['prompt --channel web', ['--user', '7'], ['--person', '7']],
] as const;

/** Returns the options that a command receives when it runs. */
async function optionsOf(command: string, args: readonly string[]): Promise<object> {
  const run = async () => undefined;
  const program = createProgram({ run, bare: run, starting: run });
  let options = {};
  program.hook('preAction', (_program, named) => {
    options = named.opts();
  });
  await program.parseAsync([...command.split(' '), ...args], { from: 'user' });
  return options;
}

describe('a renamed option', () => {
  it.each(FORMER)('[U02] works under both names: %s %j', async (command, former, now) => {
    const expected = await optionsOf(command, now);
    expect(written.err).toBe('');
    expect(await optionsOf(command, former)).toEqual(expected);
    const notice = `Note: ${former[0]} is called ${now[0]} now.`;
    expect(written.err).toContain(notice);
    expect(written.err.match(/Note: /g)).toHaveLength(1);
    expect(written.out).toBe('');
  });

  it('[U02] appears in help and completion only under its current name', async () => {
    const run = async () => undefined;
    const program = createProgram({ run, bare: run, starting: run });
    let script = '';
    const folder = { path: '' } as Parameters<typeof printCompletion>[0]['folder'];
    const print = (text: string) => {
      script = text;
    };
    await printCompletion({ folder, env: {}, print }, program, 'bash');
    expect(script).toContain('--continue');
    expect(script).not.toContain('--go-on');
    const restore = program.commands.find((command) => command.name() === 'restore');
    expect(restore?.helpInformation()).toContain('--continue');
    expect(restore?.helpInformation()).not.toContain('--go-on');
  });

  it('[U02] rejects an invalid value under its former name as well', async () => {
    expect(await main(['logs', '--last', 'many'])).toBe(2);
    expect(written.err).toContain("option '--last <count>' argument 'many' is invalid");
  });

  it('[U02] accepts --play before a scene, with a note that the option is unnecessary', async () => {
    const words = ['--data', '/nonexistent', 'simulate', 'discord', '--play', '/nonexistent.jsonl'];
    expect(await main(words)).toBe(1);
    expect(written.err).toContain('Note: --play is not needed now.');
    expect(written.err).toContain('There is no scene file /nonexistent.jsonl.');
  });

  it('[U02] conflicts with the same options under both of its names', async () => {
    const program = new Command('parley').exitOverride();
    program
      .command('print')
      .option('--json', 'for programs')
      .addOption(new Option('--width <columns>', 'how wide').conflicts('json'));
    acceptFormerOptions(program, { print: { former: '--wide', now: '--width' } });
    const args = ['print', '--wide', '5', '--json'];
    expect(() => program.parse(args, { from: 'user' })).toThrow('cannot be used with');
  });

  it('[U02] can only be declared for an existing option', () => {
    const program = new Command('parley');
    const renamed = { print: { former: '--wide', now: '--width' } };
    expect(() => acceptFormerOptions(program, renamed)).toThrow('no command parley print');
    program.command('print');
    expect(() => acceptFormerOptions(program, renamed)).toThrow('does not have the option --width');
  });
});

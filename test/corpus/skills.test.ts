import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { silentLogger } from '@parley/core';
import { openSkills, type SkillStatus } from '@parley/workspace';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { parseSkill } from '../../packages/workspace/src/skills/skill-file.ts';

const CORPUS = join(import.meta.dirname, 'skills');

/** What must come out of a SKILL.md: parts of its header, or `refused` with a word of the reason. */
const Expected = z.looseObject({
  refused: z.string().optional(),
  body: z.string().optional(),
  command: z.string().nullable().optional(),
  /** A word of each warning there must be; empty: there is none. Absent: it is not looked at. */
  warned: z.array(z.string()).optional(),
});

const names = readdirSync(CORPUS);
const cases = names.filter((name) => !name.endsWith('.expected.json'));

/** All of them in one folder, as an installation would have them. */
let installed: readonly SkillStatus[] = [];
beforeAll(async () => {
  const skills = openSkills({
    folders: [{ source: 'workspace', root: CORPUS, within: [] }],
    settings: {
      ...{ block: [], show: 'outline', max: 1_000, maxCharacters: 200_000 },
      maxFileBytes: 256_000,
    },
    facts: () => ({ os: 'linux', env: {}, settings: {}, tools: new Set() }),
    reserved: [],
    home: '/home/ann',
    log: silentLogger,
  });
  installed = await skills.list();
});

describe('[S11] every SKILL.md that OpenClaw loads', () => {
  it('has an expectation beside it, and each expectation a SKILL.md', () => {
    const expected = names.filter((name) => name.endsWith('.expected.json'));
    expect(expected.map((name) => name.replace('.expected.json', '')).sort()).toEqual(cases.sort());
  });

  it.each(cases)('is read: %s', (name) => {
    const text = readFileSync(join(CORPUS, name, 'SKILL.md'), 'utf8');
    const written = readFileSync(join(CORPUS, `${name}.expected.json`), 'utf8');
    const { refused, body, command, warned, ...header } = Expected.parse(JSON.parse(written));
    const read = parseSkill(text, name);
    if (read.content.kind === 'refused') {
      expect(refused, `${name} was refused: ${read.content.reason}`).toBeDefined();
      expect(read.content.reason).toContain(refused);
      return;
    }
    expect(refused, `${name} was read`).toBeUndefined();
    expect(read.content).toMatchObject(header);
    expect(read.body).toBe(body ?? 'Do it.');
    const { warnings } = read.content;
    for (const word of warned ?? []) expect(warnings.join('\n')).toContain(word);
    if (warned?.length === 0) expect(warnings).toEqual([]);
    if (command !== undefined) {
      expect(statusOf(name)?.command ?? null).toBe(command);
    }
  });

  it('is listed, with what had to be guessed', () => {
    expect(installed).toHaveLength(cases.length);
    expect(statusOf('colon')).toMatchObject({
      state: 'ready',
      warnings: ['"description" is not plain YAML, and was read as text'],
    });
  });

  it('is called by a command of its own, or says why there is none', () => {
    const callable = installed.filter(({ state }) => state === 'ready');
    const commands = callable.flatMap(({ command }) => command ?? []);
    expect(new Set(commands).size).toBe(commands.length);
    for (const command of commands) expect(command).toMatch(/^[a-z0-9_]{1,32}$/);
  });
});

function statusOf(folder: string): SkillStatus | undefined {
  return installed.find(({ location }) => location.endsWith(`/${folder}/SKILL.md`));
}

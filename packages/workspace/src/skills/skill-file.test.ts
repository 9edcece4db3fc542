import { toRunOptions } from '@parley/core/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseFile } from '../front-matter.ts';
import { parseSkill } from './skill-file.ts';
import { cleanOneLine } from './skill-text.ts';

const parse = (front: string, folder = 'plan-trip') =>
  parseSkill(`---\n${front}\n---\nDo it.`, folder).content;
const read = (front: string) => {
  const content = parse(`description: d\n${front}`);
  if (content.kind === 'refused') throw new Error(content.reason);
  return content;
};

describe('[S01] the front matter of a skill', () => {
  it('needs a description, but the folder can provide the name', () => {
    expect(parse('description: Plans a trip.')).toMatchObject({
      kind: 'skill',
      name: 'plan-trip',
      description: 'Plans a trip.',
      userinvocable: true,
      disablemodelinvocation: false,
      foreveryone: true,
    });
  });

  it.each([
    ['user-invocable: false', { userinvocable: false }],
    ['userInvocable: "false"', { userinvocable: false }],
    ['disable-model-invocation: true', { disablemodelinvocation: true }],
    ['disableModelInvocation: true', { disablemodelinvocation: true }],
    ['metadata: {always: true}', { always: true }],
    ['metadata: {openclaw: {os: [darwin], emoji: 🧳}}', { os: ['darwin'], emoji: '🧳' }],
    [`metadata: '{"openclaw": {"always": true}}'`, { always: true }],
    ['metadata: {clawdbot: {requires: {anyBins: [a, b]}}}', { requires: { anybins: ['a', 'b'] } }],
    ['metadata: {openclaw: {requires: {bins: [a]}}}', { requires: { bins: ['a'] } }],
    ['os: linux\nmetadata: {openclaw: {os: darwin}}', { os: ['linux'] }],
    ['metadata: a word of my own', { always: false }],
    ['license: MIT\nallowed-tools: Read', { always: false }],
    ['emoji: [1]', { emoji: null }],
    [
      'metadata: {openclaw: {install: [{id: brew, kind: brew, label: "Install x (brew)"}, {kind: go}]}}',
      { install: ['Install x (brew)', 'go'] },
    ],
  ])('is read in every spelling: %s', (front, expected) => {
    expect(read(front)).toMatchObject(expected);
  });

  it.each([
    ['audience: owner', false],
    ['Audience: owner', false],
    ['audience: friends', false],
    ['audience: [everyone]', false],
    ['audience:', false],
    ['metadata: {openclaw: {audience: owner}}', false],
    ['audience: everyone\nmetadata: {audience: owner}', false],
    ['audience: everyone', true],
  ])('[W03] with "%s" opens a skill to everyone: %s', (front, expected) => {
    expect(read(front).foreveryone).toBe(expected);
  });

  it.each([
    ['no description', 'name: a', 'description'],
    ['an empty description', 'description: " \\n "', 'description'],
    ['a name that is a path', 'name: ../../etc\ndescription: d', 'name'],
    ['a name with a line break', 'name: "a\\nb"\ndescription: d', 'name'],
    ['a name that is a tag', 'name: "</skill>"\ndescription: d', 'name'],
    ['a name with an invisible mark', 'name: "a\\u202eb"\ndescription: d', 'name'],
    ['a name of 65 letters', `name: ${'a'.repeat(65)}\ndescription: d`, 'name'],
    ['two spellings of one key', 'description: d\naudience: everyone\nAudience: owner', 'twice'],
    ['needs that are no list', 'description: d\nrequires: {bins: {a: 1}}', 'bins'],
    ['a flag that is a word', 'description: d\nalways: perhaps', 'always'],
    ['200 programs', `description: d\nrequires: {bins: [${'a,'.repeat(200)}]}`, 'bins'],
  ])('is refused with %s', (_case, front, words) => {
    const content = parse(front);
    expect(content.kind === 'refused' ? content.reason : 'taken').toContain(words);
  });

  it('is refused if neither the front matter nor the folder provides a name', () => {
    expect(parse('description: d', '<b>')).toMatchObject({ kind: 'refused' });
  });

  it('provides every description as one line, without invisible characters', () => {
    const content = parse('description: "One\\n\\n  two\\u202e\\u200b\\U000e0041 three\\u0007."');
    expect(content).toMatchObject({ description: 'One two three .' });
  });
});

describe('[S11] a SKILL.md that is not plain YAML', () => {
  const pieces = fc.constantFrom(
    ...['---', '...', '# Title', '', '  ', '\t', 'Do it.', '- item', '}', '{', '[', '"', "'", ':'],
    ...[
      'name: tea',
      'description: Makes: tea',
      'description:',
      '  text: more',
      'metadata: {"a": [1',
    ],
    ...['user-invocable: no', 'name: x', '"openclaw": {', 'bins: null', '&a *a', '|', '>'],
  );

  it('never causes an error, is read the same way each time, and stays as private as the plain file', () => {
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 14 }), (lines) => {
        const raw = ['---', ...lines].join('\n');
        const { content } = parseSkill(raw, 'tea');
        expect(parseSkill(raw, 'tea').content).toEqual(content);
        if (content.kind === 'refused') return;
        expect(content.description).toBe(cleanOneLine(content.description));
        const kind = parseFile('skills/tea/SKILL.md', raw, false).audience.kind;
        expect(kind).toBe(content.foreveryone ? 'everyone' : 'owner');
      }),
      toRunOptions(2_000),
    );
  });

  it('[W03] stays private to the owner if it says that it is, whatever other mistakes it contains', () => {
    const marks = fc.constantFrom(
      ...['audience: owner', 'Audience : owner', '"audience": owner', 'audience:owner'],
      ...['metadata: {"openclaw": {"audience": "owner"}}', 'metadata:\n\taudience: owner'],
    );
    fc.assert(
      fc.property(marks, fc.array(pieces, { maxLength: 6 }), (mark, lines) => {
        const raw = ['---', 'name: tea', 'description: Makes: tea', mark, ...lines, '---', 'x'];
        const { content } = parseSkill(raw.join('\n'), 'tea');
        expect(content.kind === 'skill' && content.foreveryone).toBe(false);
      }),
      toRunOptions(1_000),
    );
  });

  it('is parsed quickly at any nesting depth', () => {
    for (const deep of [
      '{'.repeat(7_000),
      '['.repeat(7_000),
      '- '.repeat(7_000),
      ' a:\n'.repeat(2_000),
    ]) {
      expect(parse(`name: tea\ndescription: x: y\nmetadata: ${deep}`).kind).toBe('skill');
    }
  });
});

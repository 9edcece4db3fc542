import { describe, expect, it } from 'vitest';
import { parseSkill } from './skill-file.ts';

const parse = (front: string, folder = 'plan-trip') =>
  parseSkill(`---\n${front}\n---\nDo it.`, folder).content;
const read = (front: string) => {
  const content = parse(`description: d\n${front}`);
  if (content.kind === 'refused') throw new Error(content.reason);
  return content;
};

describe('[S01] the front matter of a skill', () => {
  it('needs a description; the folder can give the name', () => {
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
  ])('[W03] with "%s" is for everyone: %s', (front, expected) => {
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

  it('is refused where neither it nor the folder has a name', () => {
    expect(parse('description: d', '<b>')).toMatchObject({ kind: 'refused' });
  });

  it('brings every description on one line, without invisible marks', () => {
    const content = parse('description: "One\\n\\n  two\\u202e\\u200b\\U000e0041 three\\u0007."');
    expect(content).toMatchObject({ description: 'One two three .' });
  });
});

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatArguments } from '@parley/agent/shown-arguments';
import { CHANNEL_DEFINITIONS } from '@parley/gateway';
import { describe, expect, it } from 'vitest';
import { locateDataFolder } from './data-folder.ts';
import { createApprovalRules, parseProposedFile } from './operator-approvals.ts';

describe('a call that is always allowed', () => {
  it.each([
    [undefined, 'approvals: {auto: [read, write]}\nagents: { desk: {} }\n', ['read', 'write']],
    ['desk', /^approvals: \{ auto: \[read\] \}\nagents:[\s\S]*read[\s\S]*write/, ['read', 'write']],
  ])(
    '[F14] [G05] applies only to its agent, which keeps the inherited rules: %s',
    async (name, file, rules) => {
      const path = mkdtempSync(join(tmpdir(), 'parley-rules-'));
      const folder = locateDataFolder(path, {});
      writeFileSync(folder.settingsFile, 'approvals: { auto: [read] }\nagents: { desk: {} }\n');
      const deps = { folder, env: {}, clock: () => 0, channels: CHANNEL_DEFINITIONS, name };
      await createApprovalRules(deps).allow('write');
      expect(readFileSync(folder.settingsFile, 'utf8')).toMatch(file);
      expect(createApprovalRules(deps).list()).toEqual(rules);
      await createApprovalRules(deps).revoke('read');
      expect(createApprovalRules(deps).list()).toEqual(['write']);
      rmSync(path, { recursive: true });
    },
  );
});

describe('the file shown in an approval request', () => {
  it.each([
    ['a short text', 'Cats sleep.', 'Cats sleep.'],
    ['lines', '---\na: b\n---\n\nOne\n\nTwo\n', '---\na: b\n---\n\nOne\n\nTwo'],
    ['a line like a bar', '| x\n|\n', '| x\n|'],
    ['hidden characters, written out', 'a\u200bb\n', 'a\\u{200b}b'],
  ])('[W09] is parsed in the form in which it is displayed: %s', (_what, text, expected) => {
    const readers = 'everyone, as before';
    const shown = formatArguments({ path: 'notes/a.md', readers, whole_file: text });
    expect(parseProposedFile(shown)).toEqual({ path: 'notes/a.md', text: expected });
  });

  it.each([
    { path: 'a.md', text: 'whole_file:' },
    { command: 'path: "a"\nwhole_file: "x"' },
    { path: 'a\u200b.md', whole_file: 'x' },
  ])('is null for %j', (input) => {
    expect(parseProposedFile(formatArguments(input))).toBeNull();
  });
});

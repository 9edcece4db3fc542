import { shownArguments } from '@parley/agent/shown-arguments';
import { describe, expect, it } from 'vitest';
import { proposedFile } from './approvals-page.ts';

describe('the file of a question', () => {
  it.each([
    ['a short text', 'Cats sleep.', 'Cats sleep.'],
    ['lines', '---\na: b\n---\n\nOne\n\nTwo\n', '---\na: b\n---\n\nOne\n\nTwo'],
    ['a line like a bar', '| x\n|\n', '| x\n|'],
    ['hidden characters, written out', 'a\u200bb\n', 'a\\u{200b}b'],
  ])('[W09] is found as it is shown: %s', (_what, text, expected) => {
    const readers = 'everyone, as before';
    const shown = shownArguments({ path: 'notes/a.md', readers, whole_file: text });
    expect(proposedFile(shown)).toEqual({ path: 'notes/a.md', text: expected });
  });

  it.each([
    { path: 'a.md', text: 'whole_file:' },
    { command: 'path: "a"\nwhole_file: "x"' },
    { path: 'a\u200b.md', whole_file: 'x' },
  ])('is none in %j', (input) => {
    expect(proposedFile(shownArguments(input))).toBeNull();
  });
});

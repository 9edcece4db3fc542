import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { AUDIT_CHECKS } from './audit-checks.ts';
import { CHECKS } from './checks.ts';

const inCommand = (command: 'doctor' | 'audit') =>
  CHECKS.filter(({ commands }) => commands.includes(command));

/**
 * Compares the rows with the table between the markers in a document. `vitest --update=all` updates
 * the document.
 */
async function expectTable(name: string, head: readonly string[], rows: readonly string[][]) {
  const page = new URL(`../../../../../docs/${name}`, import.meta.url);
  const lines = [head, head.map(() => '---'), ...rows].map((cells) =>
    cells.every((cell) => cell === '---') ? `|${cells.join('|')}|` : `| ${cells.join(' | ')} |`,
  );
  const marked = /(<!-- checks -->\n)[\s\S]*(<!-- end of checks -->)/;
  const filled = readFileSync(page, 'utf8').replace(
    marked,
    (_all, begin, end) => `${begin}${lines.join('\n')}\n${end}`,
  );
  await expect(filled).toMatchFileSnapshot(page.pathname);
}

describe('the table of checks', () => {
  it('[U02] [U05] gives every check a unique id, a title, and a command that runs the check', () => {
    const ids = CHECKS.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { id, title, commands } of CHECKS) {
      expect([id, title]).toEqual([
        expect.stringMatching(/^[a-z]+(\.[a-z-]+)?$/),
        expect.stringMatching(/^\S.*[.)]$/),
      ]);
      expect(commands.length).toBeGreaterThan(0);
    }
    const names = inCommand('doctor').map(({ id, doctorName = id }) => doctorName);
    expect(new Set(names).size).toBe(names.length);
  });

  it('[U05] contains every audit check, with a severity and advice', () => {
    expect(inCommand('audit')).toEqual(AUDIT_CHECKS);
    for (const { id, severity, advice } of AUDIT_CHECKS) {
      expect([id, severity, advice]).toEqual([
        id,
        expect.stringMatching(/^(critical|warning|info)$/),
        expect.stringMatching(/[.\d]$/),
      ]);
    }
  });

  it('[U05] does not contain an audit check that contacts a gateway or another server', () => {
    const asked = AUDIT_CHECKS.flatMap(({ needs }) => needs);
    expect([...new Set(asked)].toSorted()).toEqual([
      ...['database', 'files', 'sandbox', 'settings', 'workspace'],
    ]);
  });

  it('[U05] matches the table in docs/audit.md', async () => {
    const rows = AUDIT_CHECKS.map(({ id, severity = '', title, advice = '' }) => [
      ...[`\`${id}\``, severity, title, advice],
    ]);
    await expectTable('audit.md', ['id', 'severity', 'what holds', 'if not'], rows);
  });

  it('[U02] matches the table in docs/doctor.md', async () => {
    const rows = inCommand('doctor').map(({ id, doctorName = id, title, needs }) => [
      ...[`\`${doctorName}\``, title, needs.join(', ')],
    ]);
    await expectTable('doctor.md', ['check', 'what holds', 'needs'], rows);
  });
});

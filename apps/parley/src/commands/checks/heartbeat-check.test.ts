import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemTime } from '@parley/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { locateDataFolder } from '../../data-folder.ts';
import { runDoctorChecks } from './doctor.ts';
import { inspectInstallation } from './installation.ts';

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'parley-doctor-'));
  mkdirSync(join(base, 'workspace'));
  writeFileSync(join(base, 'parley.yaml'), 'model: offline\n');
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function put(name: string, text: string | Uint8Array): void {
  writeFileSync(join(base, 'workspace', name), text);
}

/** Returns the doctor's findings about HEARTBEAT.md. */
async function findings(): Promise<readonly string[]> {
  const place = { folder: locateDataFolder(base, {}), env: {} };
  const { installation, end } = await inspectInstallation(place, systemTime);
  try {
    const found = await runDoctorChecks(installation, 60_000);
    return found.flatMap(({ check, status, found: text }) =>
      check === 'heartbeat' ? [`${status}: ${text}`] : [],
    );
  } finally {
    end();
  }
}

describe('the doctor on HEARTBEAT.md', () => {
  it('[H11] does not report anything if the file does not exist', async () => {
    expect(await findings()).toEqual([]);
  });

  it('[H11] [W10] counts the tasks the way the heartbeat does, in any encoding and below front matter', async () => {
    const text =
      '---\naudience: owner\n---\n- Email: every 30 min\n- [x] Pay daily\n- Bills: weekdays\n';
    put('HEARTBEAT.md', text);
    expect(await findings()).toEqual(['ok: HEARTBEAT.md has 2 tasks']);
    put('HEARTBEAT.md', Buffer.from(`\ufeff${text}`, 'utf16le'));
    expect(await findings()).toEqual(['ok: HEARTBEAT.md has 2 tasks']);
  });

  it('[H11] reports lines with unrecognized schedules, and an unknown time zone', async () => {
    put('HEARTBEAT.md', '---\naudience: owner\n---\n\n- Bills: quarterly\n- Pumps: hourly\n');
    put('USER.md', '- **Timezone:** over there\n');
    const found = await findings();
    expect(found).toHaveLength(2);
    expect(found[0]).toContain('warning: HEARTBEAT.md, line 5, task Bills: found "quarterly"');
    expect(found[1]).toContain('USER.md: "over there" is not a time zone');
  });

  it('[H11] accepts the unchanged template', async () => {
    put('HEARTBEAT.md', '# Keep this file empty (or with only comments) to skip heartbeats.\n');
    expect(await findings()).toEqual(['ok: HEARTBEAT.md has 0 tasks']);
  });
});

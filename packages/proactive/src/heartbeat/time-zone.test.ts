import { describe, expect, it } from 'vitest';
import { resolveOwnerZone } from './time-zone.ts';

const HERE = { timeZone: 'Europe/Vienna', isMachinesTimeZone: true };

describe("the owner's time zone", () => {
  it.each([
    ['- **Timezone:** Europe/Berlin', 'Europe/Berlin'],
    ['- Time zone: America/New_York (EST/EDT)', 'America/New_York'],
    ['Zeitzone: `Europe/Zurich`', 'Europe/Zurich'],
    ['- 时区：Asia/Shanghai', 'Asia/Shanghai'],
    ['* TZ: Eastern time — America/Toronto', 'America/Toronto'],
    ['- **Timezone:** Berlin', 'Europe/Berlin'],
    ['- **Timezone:** New York', 'America/New_York'],
    ['- **Timezone:** Brisbane, Australia (GMT+10)', 'Australia/Brisbane'],
    ['- **Timezone:** US Pacific', 'America/Los_Angeles'],
    ['- **Timezone:** UTC', 'UTC'],
    ['- **Timezone:** UTC+8', 'Etc/GMT-8'],
  ])('[H11] is parsed from %j', (profile, timeZone) => {
    expect(resolveOwnerZone(`# USER.md\n${profile}\n`, HERE)).toEqual({
      timeZone,
      why: 'USER.md',
    });
  });

  it('[H11] is overridden by the zone in HEARTBEAT.md, unless that zone belongs to a task', () => {
    const profile = '- Timezone: Asia/Shanghai\n';
    const tasks = '# Heartbeat\n\n**Time zone:** Europe/Lisbon\n';
    expect(resolveOwnerZone(profile, HERE, tasks)).toEqual({
      timeZone: 'Europe/Lisbon',
      why: 'HEARTBEAT.md',
    });
    const ofOneTask = 'tasks:\n  - name: a\n    timezone: Europe/Lisbon\n';
    expect(resolveOwnerZone(profile, HERE, ofOneTask).timeZone).toBe('Asia/Shanghai');
  });

  it.each([
    '',
    '- **Name:** Ann',
    '- **Timezone:**\n- **Notes:** x',
    '- **Timezone:** _(optional)_',
  ])('[H11] is absent in %j', (profile) =>
    expect(resolveOwnerZone(profile, HERE)).toEqual({ timeZone: 'Europe/Vienna' }),
  );

  it.each(['EST or so', 'CST', 'Mars/Olympus', 'the same as yours', 'UTC+99'])(
    '[H11] is reported as a problem if it is %j',
    (zone) => {
      const found = resolveOwnerZone(`- **Timezone:** ${zone}`, HERE);
      expect(found.timeZone).toBe('Europe/Vienna');
      expect(found.problem).toContain(`"${zone}" is not a time zone`);
    },
  );

  it('[H11] is ignored without a problem if the settings name a zone', () => {
    const set = { timeZone: 'Europe/Vienna', isMachinesTimeZone: false };
    expect(resolveOwnerZone('Timezone: Europe/Vienna', set)).toEqual({
      timeZone: 'Europe/Vienna',
    });
    const other = resolveOwnerZone('Timezone: nowhere', set);
    expect(other).toMatchObject({
      timeZone: 'Europe/Vienna',
      why: expect.stringContaining('nowhere'),
    });
    expect(other.problem).toBeUndefined();
  });
});

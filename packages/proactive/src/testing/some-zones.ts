/**
 * Zones whose clocks change in odd ways: at midnight, by half an hour, far ahead of UTC, or never.
 */
export const SOME_ZONES: readonly string[] = [
  'UTC',
  'Europe/Vienna',
  'Europe/Dublin',
  'America/New_York',
  'America/Havana',
  'America/St_Johns',
  'America/Santiago',
  'Africa/Cairo',
  'Africa/Casablanca',
  'Asia/Beirut',
  'Asia/Kolkata',
  'Asia/Tehran',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'Pacific/Kiritimati',
  'Pacific/Chatham',
];

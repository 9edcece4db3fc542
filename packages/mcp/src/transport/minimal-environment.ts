/** What programs need to run at all; no secret of Parley is among it. */
const PASSED_ON =
  process.platform === 'win32'
    ? ['PATH', 'HOME', 'LANG', 'SYSTEMROOT', 'TEMP', 'USERPROFILE', 'APPDATA']
    : ['PATH', 'HOME', 'LANG'];

/** The whole environment of a server: PATH, HOME and LANG of Parley, and what its settings name. */
export function minimalEnvironment(
  own: Readonly<Record<string, string | undefined>>,
  named: Readonly<Record<string, string>>,
): Record<string, string> {
  const passed = PASSED_ON.flatMap((name) => {
    const value = own[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(passed), ...named };
}

/** The way to a value from the top of the settings: keys and list positions. */
export type SettingsPath = readonly (string | number)[];

/** The path as people write it: `channels.telegram.token`, `owners[0]`; odd keys are quoted. */
export function formatPath(path: SettingsPath): string {
  return path.map((step, index) => formatStep(step, index === 0)).join('');
}

function formatStep(step: string | number, first: boolean): string {
  if (typeof step === 'number') return `[${step}]`;
  if (!/^[\w-]+$/.test(step)) return `[${JSON.stringify(step)}]`;
  return first ? step : `.${step}`;
}

/** True when `path` is `top` or something below it. */
export function isWithin(path: SettingsPath, top: SettingsPath): boolean {
  return top.every((step, index) => path[index] === step);
}

/** The value at `path`, or undefined when any step of the way is missing. */
export function valueAt(root: unknown, path: SettingsPath): unknown {
  let value = root;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step))
      return undefined;
    value = Reflect.get(value, step);
  }
  return value;
}

import type { SettingsPath } from './path.ts';

const SECRET_NAME =
  /(?:token|key|secret|password|passphrase|authorization|cookie)$|^(?:tokens|keys|secrets|passwords)$/i;
const SECRET_LINE = /^(\s*(?:-\s+)?["']?)([\w-]+)(["']?\s*:\s*)(.+)$/;

/** True when a value under this key is a secret by its name: `token`, `apiKey`, `password`, … */
function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

/** True when any key on the way says that what follows is secret. */
export function isSecretPath(path: SettingsPath): boolean {
  return path.some((step) => typeof step === 'string' && isSecretName(step));
}

/** A line of YAML fit to be shown: a secret's value becomes dots, as many as it had characters. */
export function maskLine(line: string): string {
  const [, before = '', name = '', colon = '', value = ''] = SECRET_LINE.exec(line) ?? [];
  if (name === '' || !isSecretName(name) || value.startsWith('${')) return line;
  return `${before}${name}${colon}${'•'.repeat(value.length)}`;
}

/** The secret inside a value: the value itself, a bearer's token, the password within a URL (as written, and as meant). */
export function secretsIn(value: string): string[] {
  const bearer = /^(?:bearer|basic)\s+(\S+)$/i.exec(value)?.[1];
  const password = /^[a-z][a-z0-9+.-]*:\/\/[^/?#@]*?:([^/?#]+)@/i.exec(value)?.[1];
  return [...new Set([value, bearer, password, password && decoded(password)])].filter(
    (secret) => secret !== undefined && secret !== '',
  ) as string[];
}

function decoded(password: string): string {
  try {
    return decodeURIComponent(password);
  } catch {
    return password; // A single % is no mistake in a password.
  }
}

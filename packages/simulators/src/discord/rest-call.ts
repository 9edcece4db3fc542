import type { z } from 'zod';
import { Refusal } from './refusal.ts';
import type { Json } from './wire.ts';

/** One call of the REST interface, read whole. */
export class RestCall {
  readonly params: ReadonlyMap<string, string>;
  readonly query: URLSearchParams;
  readonly body: unknown;
  /** Files of a multipart body by their field, `files[0]` and so on. */
  readonly files: ReadonlyMap<string, File>;

  constructor(
    params: ReadonlyMap<string, string>,
    query: URLSearchParams,
    content: { readonly body: unknown; readonly files: ReadonlyMap<string, File> },
  ) {
    this.params = params;
    this.query = query;
    this.body = content.body;
    this.files = content.files;
  }

  /** A part of the path that the route names. */
  param(name: string): string {
    const value = this.params.get(name);
    if (value === undefined) throw new Error(`The route has no :${name}`);
    return decodeURIComponent(value);
  }

  /**
   * The body in the form the route needs.
   * @throws Refusal 50035 naming the fields that are wrong
   */
  read<T>(form: z.ZodType<T>): T {
    const result = form.safeParse(this.body ?? {});
    if (result.success) return result.data;
    throw new Refusal(400, 50035, 'Invalid Form Body', formErrors(result.error));
  }
}

function formErrors(error: z.ZodError): Json {
  const errors: Record<string, unknown> = {};
  for (const { path, message } of error.issues) {
    errors[path.join('.') || 'body'] = { _errors: [{ code: 'BASE_TYPE_BAD', message }] };
  }
  return errors;
}

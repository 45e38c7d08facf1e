/**
 * A TypeDoc plugin for names: modules as users import them, the error of `@throws {Name}`, and destructured parameters, which
 * have none.
 */
import { type Application, Converter } from 'typedoc';

export function load({ converter }: Pick<Application, 'converter'>): void {
  converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const entry of project.children ?? [])
      entry.name = entry.name.replace(/^(\w+)\/src/, '@payment-service/$1').replace('/store/libraries', '');
    for (const reflection of Object.values(project.reflections)) {
      if (reflection.name === '__namedParameters') reflection.name = 'options';
      for (const { tag, typeAnnotation, content } of reflection.comment?.blockTags ?? [])
        if (tag === '@throws' && typeAnnotation !== undefined)
          content.unshift({ kind: 'text', text: `\`${typeAnnotation.slice(1, -1)}\`: ` });
    }
  });
}

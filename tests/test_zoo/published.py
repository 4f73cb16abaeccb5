"""Networks as their projects publish them, written down from their structure: the names of the parts are theirs, the code is not."""
import torch
from torch import nn


def fill(network: nn.Module) -> nn.Module:
    """Gives every number a hash of its place (keys in alphabetical order), with statistics as after training; eval mode."""
    state = network.state_dict()
    for place, key in enumerate(sorted(state)):
        tensor = state[key]
        if not tensor.is_floating_point():
            tensor.fill_(place)
            continue
        x = torch.arange(tensor.numel()) * 2654435761 + place * 40503 & 0xffffffff
        x = (x ^ x >> 15) * 2246822519 & 0xffffffff
        uniform = ((x ^ x >> 13) * 3266489917 & 0xffffffff).double() / 2**32
        spread = (uniform - .5) * (12 / tensor[0].numel())**.5 if tensor.dim() > 1 else uniform + .5
        spread *= 5 if 'mlp.fc1' in key else 1  # so that ReLU6 has something to cut off
        tensor.copy_(spread.reshape(tensor.shape))
    return network.eval()


def images(count: int, side: int) -> torch.Tensor:
    return torch.sin(torch.arange(count * 3 * side * side).double() * .7).reshape(count, 3, side, side).float()


def conv(inside: int, outside: int, kernel: int, stride: int = 1, groups: int = 1) -> nn.Conv2d:
    return nn.Conv2d(inside, outside, kernel, stride, kernel // 2, groups=groups, bias=False)


class Named(nn.Module):
    """Parts under the names given, run one after the other."""

    def __init__(self, **parts: nn.Module) -> None:
        super().__init__()
        for name, part in parts.items():
            self.add_module(name, part)

    def forward(self, x):
        for part in self.children():
            x = part(x)
        return x


class Plus(nn.Module):
    """The sum of two branches; a branch of None is the input."""

    def __init__(self, **branches: nn.Module | None) -> None:
        super().__init__()
        for name, branch in branches.items():
            self.add_module(name, branch)

    def forward(self, x):
        return sum(x if branch is None else branch(x) for branch in self._modules.values())


class PlusSelf(Named):

    def forward(self, x):
        return x + super().forward(x)


class SqueezeExcite(nn.Module):

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.fc1, self.fc2 = conv(channels, channels // 16, 1), conv(channels // 16, channels, 1)

    def forward(self, x):
        return x * self.fc2(self.fc1(x.mean((2, 3), keepdim=True)).relu()).sigmoid()


# --- InsightFace's iresnet (deepinsight/insightface recognition/arcface_torch/backbones/iresnet.py), MagFace with eps 2e-5


class IBasicBlock(nn.Module):

    def __init__(self, inside, outside, stride, eps):
        super().__init__()
        self.bn1, self.conv1 = nn.BatchNorm2d(inside, eps), conv(inside, outside, 3)
        self.bn2, self.prelu = nn.BatchNorm2d(outside, eps), nn.PReLU(outside)
        self.conv2, self.bn3 = conv(outside, outside, 3, stride), nn.BatchNorm2d(outside, eps)
        self.downsample = None if stride == 1 else nn.Sequential(conv(inside, outside, 1, stride), nn.BatchNorm2d(outside, eps))

    def forward(self, x):
        out = self.bn3(self.conv2(self.prelu(self.bn2(self.conv1(self.bn1(x))))))
        return out + (x if self.downsample is None else self.downsample(x))


def iresnet(units=(1, 2, 1, 1), side=2, dims=24, eps=1e-5):
    layers, inside = {}, 64
    for stage, (count, outside) in enumerate(zip(units, (64, 128, 256, 512), strict=True), 1):
        blocks = [IBasicBlock(outside if at else inside, outside, 1 if at else 2, eps) for at in range(count)]
        layers[f'layer{stage}'], inside = nn.Sequential(*blocks), outside
    return Named(conv1=conv(3, 64, 3), bn1=nn.BatchNorm2d(64, eps), prelu=nn.PReLU(64), **layers, bn2=nn.BatchNorm2d(512, eps),
                 flatten=nn.Flatten(), fc=nn.Linear(512 * side * side, dims), features=nn.BatchNorm1d(dims, eps))


# --- IR of face.evoLVe and FaceX-Zoo (old), of TFace, AdaFace and CVLface (new: a batch norm more in each unit)


def ir_unit(inside, outside, stride, new, se):
    parts = [nn.BatchNorm2d(inside), conv(inside, outside, 3)] + [nn.BatchNorm2d(outside)] * new
    residual = nn.Sequential(*parts, nn.PReLU(outside), conv(outside, outside, 3, stride), nn.BatchNorm2d(outside))
    if se:
        residual.add_module('se_block' if new else '5', SqueezeExcite(outside))
    return Plus(res_layer=residual, shortcut_layer=ir_shortcut(inside, outside, stride))


def ir_bottleneck(inside, outside, stride, new, se):
    quarter = outside // 4
    residual = nn.Sequential(
        nn.BatchNorm2d(inside), conv(inside, quarter, 1), nn.BatchNorm2d(quarter), nn.PReLU(quarter), conv(quarter, quarter, 3),
        nn.BatchNorm2d(quarter), nn.PReLU(quarter), conv(quarter, outside, 1, stride), nn.BatchNorm2d(outside))
    if se:
        residual.add_module('se_block', SqueezeExcite(outside))
    return Plus(res_layer=residual, shortcut_layer=ir_shortcut(inside, outside, stride))


def ir_shortcut(inside, outside, stride):
    return nn.MaxPool2d(1, stride) if inside == outside else nn.Sequential(conv(inside, outside, 1, stride), nn.BatchNorm2d(outside))


def ir(units=(1, 2, 1, 1), side=2, dims=24, new=True, se=False, bottleneck=False, affine=False):
    body, inside = [], 64
    for count, outside in zip(units, (256, 512, 1024, 2048) if bottleneck else (64, 128, 256, 512), strict=True):
        for at in range(count):
            body.append((ir_bottleneck if bottleneck else ir_unit)(inside, outside, 1 if at else 2, new, se))
            inside = outside
    end = nn.Sequential(nn.BatchNorm2d(inside), nn.Dropout(.4), nn.Flatten(), nn.Linear(inside * side * side, dims),
                        nn.BatchNorm1d(dims, affine=affine))
    return Named(input_layer=nn.Sequential(conv(3, 64, 3), nn.BatchNorm2d(64), nn.PReLU(64)), body=nn.Sequential(*body), output_layer=end)


# --- MobileFaceNet of InsightFace: everything is called layers


def layered(*shape, prelu=True, **options):
    return Named(layers=nn.Sequential(conv(*shape, **options), nn.BatchNorm2d(shape[1]), *[nn.PReLU(shape[1])] * prelu))


def layered_unit(inside, outside, inner, stride=1):
    kind = PlusSelf if stride == 1 else Named
    return kind(layers=nn.Sequential(layered(inside, inner, 1), layered(inner, inner, 3, stride=stride, groups=inner),
                                     layered(inner, outside, 1, prelu=False)))


def layered_units(channels, count, inner):
    return Named(layers=nn.Sequential(*[layered_unit(channels, channels, inner) for _ in range(count)]))


def pooling(channels, side):
    return nn.Conv2d(channels, channels, side, groups=channels, bias=False), nn.BatchNorm2d(channels)


def insightface_mobilefacenet(blocks=(1, 2, 3, 2), scale=2, side=2, dims=24):
    thin, wide = 64 * scale, 128 * scale
    second = layered(thin, thin, 3, groups=64) if blocks[0] == 1 else layered_units(thin, blocks[0], 128)
    layers = nn.Sequential(layered(3, thin, 3, stride=2), second,
                           layered_unit(thin, thin, 128, 2), layered_units(thin, blocks[1], 128),
                           layered_unit(thin, wide, 256, 2), layered_units(wide, blocks[2], 256),
                           layered_unit(wide, wide, 512, 2), layered_units(wide, blocks[3], 256))
    pool = Named(layers=nn.Sequential(*pooling(512, side)))
    end = nn.Sequential(pool, nn.Flatten(), nn.Linear(512, dims, bias=False), nn.BatchNorm1d(dims))
    return Named(layers=layers, conv_sep=layered(wide, 512, 1), features=Named(layers=end))


# --- MobileFaceNet of InsightFace_Pytorch, FaceX-Zoo and TFace


def flat(*shape, prelu=True, **options):
    return Named(conv=conv(*shape, **options), bn=nn.BatchNorm2d(shape[1]), **(dict(prelu=nn.PReLU(shape[1])) if prelu else {}))


def flat_unit(inside, outside, inner, stride=1):
    kind = PlusSelf if stride == 1 else Named
    return kind(conv=flat(inside, inner, 1), conv_dw=flat(inner, inner, 3, stride=stride, groups=inner),
                project=flat(inner, outside, 1, prelu=False))


def flat_units(channels, count):
    return Named(model=nn.Sequential(*[flat_unit(channels, channels, channels * 2) for _ in range(count)]))


def flat_mobilefacenet(blocks=(4, 6, 2), side=2, dims=24, tface=False):
    pool, norm = pooling(512, side)
    end = dict(conv_6_dw=Named(conv=pool, bn=norm), flatten=nn.Flatten(), linear=nn.Linear(512, dims, bias=False),
               bn=nn.BatchNorm1d(dims, affine=not tface))
    return Named(conv1=flat(3, 64, 3, stride=2), conv2_dw=flat(64, 64, 3, groups=64),
                 conv_23=flat_unit(64, 64, 128, 2), conv_3=flat_units(64, blocks[0]),
                 conv_34=flat_unit(64, 128, 256, 2), conv_4=flat_units(128, blocks[1]),
                 conv_45=flat_unit(128, 128, 512, 2), conv_5=flat_units(128, blocks[2]),
                 conv_6_sep=flat(128, 512, 1), **(dict(output_layer=Named(**end)) if tface else end))


# --- MobileFaceNet out of MobileNetV2: ../shared/models/mobilefacenet.pt


def relu6(*shape, **options):
    return nn.Sequential(conv(*shape, **options), nn.BatchNorm2d(shape[1]), nn.ReLU6())


def foamliu_mobilefacenet(units=(3, 4, 2), side=2, dims=24):
    blocks, inside = [], 64
    for factor, outside, count, stride in zip((2, 4, 2, 4, 2), (64, 128, 128, 128, 128), (units[0], 1, units[1], 1, units[2]),
                                              (2, 2, 1, 2, 1), strict=True):
        for at in range(count):
            step, wide = 1 if at else stride, inside * factor
            kind = PlusSelf if step == 1 and inside == outside else Named
            blocks.append(kind(conv=nn.Sequential(relu6(inside, wide, 1), relu6(wide, wide, 3, stride=step, groups=wide),
                                                  conv(wide, outside, 1), nn.BatchNorm2d(outside))))
            inside = outside
    stem = Named(depthwise=conv(64, 64, 3, groups=64), bn1=nn.BatchNorm2d(64), relu=nn.ReLU(), pointwise=conv(64, 64, 1),
                 bn2=nn.BatchNorm2d(64), relu2=nn.ReLU())
    pool, norm = pooling(512, side)
    return Named(conv1=relu6(3, 64, 3, stride=2), dw_conv=stem, features=nn.Sequential(*blocks), conv2=relu6(128, 512, 1),
                 gdconv=Named(depthwise=pool, bn=norm), conv3=nn.Conv2d(512, dims, 1), bn=nn.BatchNorm2d(dims), flatten=nn.Flatten())


# --- ViT of InsightFace (vit.py) and CVLface


class Attention(nn.Module):

    def __init__(self, dims, heads):
        super().__init__()
        self.heads, self.qkv, self.proj = heads, nn.Linear(dims, dims * 3, bias=False), nn.Linear(dims, dims)

    def forward(self, x):
        batch, tokens, dims = x.shape
        q, k, v = self.qkv(x).view(batch, tokens, 3, self.heads, dims // self.heads).permute(2, 0, 3, 1, 4)
        weights = (q @ k.mT / (dims // self.heads)**.5).softmax(-1)
        return self.proj((weights @ v).transpose(1, 2).flatten(2))


class Block(nn.Module):

    def __init__(self, dims, heads, hidden):
        super().__init__()
        self.norm1, self.attn, self.norm2 = nn.LayerNorm(dims), Attention(dims, heads), nn.LayerNorm(dims)
        self.mlp = Named(fc1=nn.Linear(dims, hidden), act=nn.ReLU6(), fc2=nn.Linear(hidden, dims))

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class VisionTransformer(nn.Module):

    def __init__(self, size=32, patch=8, dims=64, depth=3, heads=8, mlp_ratio=3, out=24, mask=False):
        super().__init__()
        tokens = (size // patch)**2
        self.patch_embed = Named(proj=nn.Conv2d(3, dims, patch, patch))
        self.pos_embed = nn.Parameter(torch.zeros(1, tokens, dims))
        self.blocks = nn.Sequential(*[Block(dims, heads, dims * mlp_ratio) for _ in range(depth)])
        self.norm = nn.LayerNorm(dims)
        self.feature = nn.Sequential(nn.Linear(dims * tokens, dims, bias=False), nn.BatchNorm1d(dims, eps=2e-5),
                                     nn.Linear(dims, out, bias=False), nn.BatchNorm1d(out, eps=2e-5))
        if mask:
            self.mask_token = nn.Parameter(torch.zeros(1, 1, dims))

    def forward(self, x):
        tokens = self.patch_embed(x).flatten(2).mT + self.pos_embed
        return self.feature(self.norm(self.blocks(tokens)).flatten(1))

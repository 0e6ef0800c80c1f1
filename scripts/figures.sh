#!/bin/sh
# Runs the scenes of the papers' figures and draws each with its skin and as particles: the pictures in docs/images.
#
#     cargo build --release && scripts/figures.sh [FOLDER] [NAME...]
#
# Results go to FOLDER, out/figures by default; those that are there are drawn again, not run. NAME are pictures of the list below,
# all by default. PHYXEL may name another program than target/release/phyxel.
set -eu
cd "$(dirname "$0")/.."
phyxel=${PHYXEL:-target/release/phyxel}
folder=${1:-out/figures}
[ $# -gt 0 ] && shift
wanted=$*

# draw PICTURE SCENE MOMENTS SIZE CAMERA COLOURS [OPTIONS OF RUN]: skins, and particles coloured by COLUMN=MIN:MAX or by body.
draw() {
    picture=$1 scene=$2 moments=$3 size=$4 camera=$5 colours=$6
    shift 6
    case " ${wanted:-$picture} " in *" $picture "*) ;; *) return 0 ;; esac
    result=$folder/$picture
    echo "$picture"
    if [ ! -d "$result" ]; then
        "$phyxel" run "scenes/papers/$scene.toml" --output "$result" --quiet "$@"
        "$phyxel" surface "$result" --quiet
    fi
    "$phyxel" render "$result" $moments --size "$size" --camera "$camera" --show surfaces \
        -o "docs/images/${picture}_skin.png" >/dev/null
    case $colours in body) coloured="--show particles" ;; *) coloured="--color-by ${colours%%=*} --range ${colours#*=}" ;; esac
    "$phyxel" render "$result" $moments --size "$size" --camera "$camera" $coloured \
        -o "docs/images/${picture}_particles.png" >/dev/null
}

# rest PICTURE MOMENTS SIZE CAMERA: skins in embedded space, the shapes that the bodies would have at rest.
rest() {
    case " ${wanted:-$1} " in *" $1 "*) ;; *) return 0 ;; esac
    "$phyxel" render "$folder/$1" $2 --size "$3" --camera "$4" --space embedded --show surfaces \
        -o "docs/images/$1_embedded.png" >/dev/null
}

g=gerszewski-2009
draw gerszewski2009_fig1 $g/fig1 "--sheet 6" 280x210 azimuth=30,zoom=1.3 plastic_strain=0:3
draw gerszewski2009_fig2 $g/fig2 "--sheet 6" 300x210 azimuth=20,zoom=1.15 plastic_strain=0:2
draw gerszewski2009_fig3 $g/fig3 "--sheet 4" 320x240 azimuth=30,elevation=18,distance=7.4,target=0:1.15:0 plastic_strain=0:0.5
draw gerszewski2009_fig4 $g/fig4 "--sheet 4" 280x210 azimuth=30,zoom=1.3 plastic_strain=0:3
draw gerszewski2009_fig6 $g/fig6 "--sheet 4" 280x210 azimuth=30 plastic_strain=0:1
draw gerszewski2009_fig7 $g/fig7 "--frame 30" 480x320 azimuth=20,elevation=25,zoom=1.2 plastic_strain=0:1.5
draw gerszewski2009_fig8 $g/fig8_plastic "--sheet 4" 280x210 azimuth=30 plastic_strain=0:1.5

j=jones-2014
bar=azimuth=24,elevation=21,distance=2.4,target=0.14:0.03:0
for kind in linear nonlinear; do
    draw jones2014_fig2_$kind $j/fig2_$kind "--frame 36" 380x200 $bar plastic_strain=0:0.37
    rest jones2014_fig2_$kind "--frame 36" 380x200 $bar
done
bar=azimuth=1.5,elevation=11,distance=2.72,target=0.14:0.24:0.23
draw jones2014_fig4_elastic $j/fig4_elastic "--frame 45" 340x240 $bar body
for kind in slightly_plastic highly_plastic varying; do
    draw jones2014_fig4_$kind $j/fig4_$kind "--frame 45" 340x240 $bar plastic_strain=0:0.27
done
slab=azimuth=27,elevation=22,distance=4.9,target=0.3:0.1:0.1
draw jones2014_fig5_b $j/fig5_b "--frame 30" 400x200 $slab plastic_strain=0:8
draw jones2014_fig5_c $j/fig5_c "--frame 30" 400x200 $slab plastic_strain=0:8
draw jones2014_fig5_d $j/fig5 "--frame 30" 400x200 $slab plastic_strain=0:8
draw jones2014_fig6 $j/fig6 "--sheet 4" 300x220 azimuth=29,elevation=7,distance=4.16,target=0.26:0.9:-0.16 plastic_strain=0:1.5
rest jones2014_fig6 "--frame 30" 330x240 azimuth=30,elevation=-30,distance=3.6,target=0.31:1.02:-0.07
draw jones2014_fig7 $j/fig7 "--sheet 4" 300x220 azimuth=29,elevation=12,distance=3.94,target=0.34:0.67:-0.11 plastic_strain=0:1.5
rest jones2014_fig7 "--frame 30" 330x240 azimuth=30,elevation=-40,distance=3.8,target=0.25:1:-0.17
draw jones2014_fig8 $j/fig8 "--sheet 4" 300x200 azimuth=30,elevation=30,distance=3.67,target=0.24:0.13:-0.02 plastic_strain=0:1.6
